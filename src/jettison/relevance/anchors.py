"""Pairs of texts that belong together and pairs that do not, in and across languages: they calibrate an embedder."""

from __future__ import annotations

__all__ = ["RELATED", "UNRELATED"]

# A question of an agent's task and a passage that answers it, as they stand in histories: not paraphrases, whose
# cosines are far higher than what is looked for here.
RELATED = (
    ("Where should the parcel be sent?", "She prefers deliveries to her office on weekdays."),
    ("Write the release notes for the new version.", "We agreed that release notes never mention customer names."),
    ("Which database do we use for the reports?", "The team chose PostgreSQL for analytics after long tests."),
    ("Book a table for the anniversary dinner.", "My wife is allergic to shellfish, so no seafood places."),
    ("Какой перевозчик повезёт груз?", "С прошлой зимы мы возим хрупкие товары только своим транспортом."),
    ("Подготовь письмо клиенту о задержке.", "С этим клиентом мы общаемся исключительно на вы и без шуток."),
    ("Назначь встречу с бухгалтерией.", "Бухгалтерия принимает посетителей по утрам, кроме пятницы."),
    ("Restart the payment service.", "Перезапуск платежей согласуется с дежурным инженером."),
    ("Выбери гостиницу для командировки.", "The company pays only for hotels near the conference venue."),
)
UNRELATED = (
    ("Where should the parcel be sent?", "The unit tests run for about four minutes on a laptop."),
    ("Write the release notes for the new version.", "Our cafeteria has changed its opening hours in summer."),
    ("Which database do we use for the reports?", "The photographer will bring her own lights to the party."),
    ("Book a table for the anniversary dinner.", "The parser reads the file line by line and skips comments."),
    ("Какой перевозчик повезёт груз?", "Новая версия сайта открывается заметно быстрее прежней."),
    ("Подготовь письмо клиенту о задержке.", "В субботу в парке будет выставка редких растений."),
    ("Назначь встречу с бухгалтерией.", "Алгоритм сортировки работает за линейное время."),
    ("Restart the payment service.", "В музее открылся зал старинных музыкальных инструментов."),
    ("Выбери гостиницу для командировки.", "The compiler warns about variables that are never used."),
)
