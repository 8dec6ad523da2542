"""Passwords told in other languages than English and Russian, and what only speaks of one."""

import pytest

from jettison.vault import Detector

FIND = Detector(()).find

TOLD = [
    ("Mein Passwort ist Geheim123!x, bitte anmelden.", "Geheim123!x"),
    ("Das Kennwort lautet: Sonne-7xKq!9", "Sonne-7xKq!9"),
    ("Passwort für den Server: Geheim123!x", "Geheim123!x"),
    ("La contraseña es Abc12345xyz.", "Abc12345xyz"),
    ("contraseña de la base: Abc12345xyz", "Abc12345xyz"),
    ("Le mot de passe est « Abc12345xyz ».", "Abc12345xyz"),
    ("mot de passe : Soleil!2024", "Soleil!2024"),
    ("A senha é Abc12345xyz", "Abc12345xyz"),
    ("Het wachtwoord is Abc12345xyz", "Abc12345xyz"),
    ("Hasło to Abc12345xyz", "Abc12345xyz"),
    ("密码是 Abc12345xyz", "Abc12345xyz"),
    ("密码：Abc12345xyz，请登录", "Abc12345xyz"),
    ("パスワードは「Abc12345xyz」です", "Abc12345xyz"),
    ("비밀번호는 Abc12345xyz", "Abc12345xyz"),
    ("كلمة المرور: Abc12345xyz", "Abc12345xyz"),
    ("Пароль от базы: Zx81-ключ-Q9w. Подключись.", "Zx81-ключ-Q9w"),
    ("пароль от wifi Солнышко1987", "Солнышко1987"),
    ("The password for the staging box: Sunny-day-7!", "Sunny-day-7!"),
]
SPOKEN_OF = [
    "Das Passwort ist abgelaufen.",
    "Ein Passwort ist mindestens 12-stellig.",
    "Passwort: ********",
    "Passwortrichtlinie: mindestens 12 Zeichen",
    "La clave es importante para ORD-5512.",
    "La contraseña debe tener 8 caracteres.",
    "Contraseña de 12 caracteres como mínimo",
    "Mot de passe oublié ? Écrivez à help@example.com",
    "A senha expira em 2026-12-01.",
    "密码错误，请重试 3 次",
    "密码：<your-password>",
    "パスワードを忘れた場合は support@example.com",
    "كلمة المرور غير صحيحة",
    "пароль от почты истекает 01.12.2026",
    "The password for the account expires on 2026-12-01.",
    "password for user ORD-5512",
]


@pytest.mark.parametrize(("text", "value"), TOLD)
def test_a_password_told_outright_is_found_to_the_letter(text, value):
    assert [text[start:end] for start, end, _ in FIND(text)] == [value]


@pytest.mark.parametrize("text", SPOKEN_OF)
def test_what_speaks_of_passwords_holds_none(text):
    assert FIND(text) == []
