"""Direct orders in forms that once went unseen, and harmless sentences with the same words: "only", "not", «до».

`BINDS` was before our eyes while the patterns were widened. `HARMLESS`, statements, questions and descriptions, was
written before that, `LATER` afterwards.
"""

BINDS = {
    "Russian": """
Используй 19 % везде.
Пиши даты как ГГГГ-ММ-ДД во всех файлах.
Везде ставь табы.
Нет, ставка 19 %, а не 16 %.
Порт 8443, а не 8080.
Прод не трогаем.
в main не лезем
Клиенту не пишем.
Публичный API не ломаем.
Оплату не проводим до согласования.
В прод не выкатываем до понедельника.
Ветку main не трогаем вообще.
И историю коммитов не переписываем!
Пока ничего не мержим.
Договорились, что базу не чистим.
Логи не удаляем, новые библиотеки не ставим.
Правки вносим только в billing/round.py.
Меняем только billing/round.py.
Изменения — только в src/pay.
Работаем только на стейдже.
Режим только dry-run.
Доступ только через VPN.
Деплой — строго вручную.
Мержить без меня нельзя.
Пушить пока не надо.
Удалять без нас ничего нельзя.
Писать клиентам не нужно.
Клиенту ни слова.
Про слияние никому ни слова.
Без новых зависимостей.
Только без эмодзи.
Без сокращений и жаргона, пожалуйста.
Используй Postgres 16, а не 15.
Бери ветку release-5, а не release-4.
Пробелы, а не табы.
Бюджет — до 40 000 ₽.
Бюджет 40 тысяч рублей.
Уложись в 40 000 рублей.
Дедлайн 5 декабря.
Дедлайн по отчёту — пятница.
Срок — пятница, 18:00 по Москве.
Лимит: 200 строк.
Сдай отчёт до пятницы.
Отвечай по-русски.
Пиши мне на английском языке.
Сначала покажи план, потом делай.
Перед коммитом гоняй тесты.
Делай бэкап перед миграцией.
Обратная совместимость обязательна.
Пациенту пенициллин противопоказан.
Ограничься каталогом src/pay.
Подожди с релизом до среды.""",
    "English": """
Use 19 % everywhere.
Use tabs in all files.
Call it a client throughout the code.
Keep the header in every file.
No, the tax rate is 19 %, not 16 %.
The port is 8443, not 8080.
Edits go in billing/round.py only.
Only billing/round.py may be edited.
Dry run only!
Python 3.9 only.
It's staging only, no prod.
Changes in src/pay only, please.
Vegetarian options only.
Only the billing module should be changed.
Use Postgres 16, not 15.
Use tabs, not spaces.
Tabs, not spaces.
Quote the contract, not the draft.
Ship by 2026-12-05, no later.
Ship it by Friday.
Budget: 40,000 RUB, not a rouble more.
The budget is $400.
Deadline: December 5.
The deadline is tomorrow at noon.
Limit: 200 lines
Stay inside src/pay/.
Stay within the repository.
Limit your changes to src/pay/.
Restrict edits to one file: src/pay/a.py
Confine yourself to the public API.
Not a single email goes to customers.
Nothing gets deleted without a backup.
Changes outside src/pay/ will be rejected.
Back up before you delete anything.
Run the tests before each commit.
Hold the deploy until QA signs off.
Wait until the tests are green.
Penicillin is contraindicated for this patient.
Reply in French.
You may push now, but only to main.""",
    "other languages": """
Fass den Ordner payments/ nicht an.
Lösch die alten Backups bitte nicht.
Schick dem Kunden nichts.
Gib niemandem die Nummer, und buch keinen Flug.
Den Ordner payments/ nicht anfassen.
Die Datenbank nicht löschen!
Bitte nicht pushen.
Bitte nichts löschen!
Bitte keine E-Mails verschicken.
Nur in src/pay ändern.
Keine neuen Abhängigkeiten.
Ne supprime aucun fichier.
N'envoie rien au client.
Ne touche pas à la prod.
No borres los archivos.
Por favor, no envíes nada al cliente.
No toques la rama principal.
Não apague os arquivos.
Non cancellare i file.
只修改 src/pay 目录下的文件。
请只读取配置。
别动数据库。
لا تحذف أي ملف.
لا تدفع إلى main قبل موافقتي.
من فضلك لا ترسل أي شيء للعميل.
설정 파일만 수정하세요.
src/pay のみ変更してください。""",
}

HARMLESS = {
    "Russian": """
Ошибка видна везде.
Пришло 404, а не 500.
Их было 5, а не 6.
Мы пока не понимаем, почему упал тест.
Не знаем, откуда берётся эта ошибка.
Никак не найдём причину.
До пятницы не успеем.
Давно не обновляем этот сервер.
Если не трогаем кэш, всё работает.
Почему не видим логов?
Совсем не помню пароль.
Мы не используем Docker.
С последним релизом не всё ясно.
Ошибка только в src/pay.
Проблема только на проде.
Остался только один тест.
Я только посмотрел лог.
Тест падает только в CI.
Это случается только по ночам.
Клиент пишет только по вечерам.
Там только три файла.
Отчёт готов только наполовину.
Отличается только цвет кнопки.
В письме об этом ни слова.
Он не сказал ни слова.
Без проблем.
Без изменений.
Без понятия.
Без тебя скучно.
Без кэша запрос идёт две секунды.
Без индекса всё работает медленно.
Спешить не надо.
Волноваться не нужно.
Это баг, а не фича.
Упал второй тест, а не первый.
Он живёт в Казани, а не в Москве.
Думаю, дело в кэше, а не в базе.
До рефакторинга было лучше.
До пятницы ещё три дня.
Мы работали до вечера.
Бюджет уже потратили.
Срок годности истёк вчера.
Срок доставки зависит от города.
Дедлайн был вчера.
Лимит запросов мы превысили вчера.
Он отвечает по-русски.
Документация написана на английском языке.
Сначала упал первый тест, потом второй.
Перед коммитом тесты проходили.
Перед релизом всегда много работы.
Собери отчёт до и после миграции.
Увеличь лимит до 200.
Сравни цены до и после скидки.
Измени только что созданный файл.
Найди, где теряется заказ, и почини.
Покажи, что изменилось с прошлой недели.
Можно ли только читать?
А не проще ли переписать?
Не то чтобы срочно.
Поле обязательно для заполнения?
Не работает кнопка входа.
Не приходит письмо с кодом.
Почини вход: кнопка не нажимается.
Таблица не влезает в экран.
Обычно не пишем тесты на скрипты.
Вижу только пустой экран.
Не получаем ответа от сервера.
Срок поставки трёх заказов вырос.""",
    "English": """
The error shows up everywhere.
The test was red in all files.
It returned 404, not 500.
We had 5, not 6 of them, yesterday.
The bug is in staging only.
It fails on Windows only.
This happens in CI only.
I changed one file only.
Only John can see this bug.
Only one test failed.
The only test that fails is login.
We only looked at the log.
It is only a draft.
There are only three files.
Only then did it crash.
The page shows only half of the rows.
Not sure what happened.
It's a bug, not a feature.
The second test fails, not the first.
He lives in Kazan, not in Moscow.
I think it's the cache, not the database.
It worked yesterday, not today.
Sorry, not yet.
Probably the cache, not the database.
We spent the budget.
The budget was cut last year.
The deadline was yesterday.
We missed the deadline by two days.
What is the budget?
Is Friday the deadline?
The API limit depends on the plan.
Increase the timeout by 5 seconds.
Sort the rows by date.
The report was written by Monday's team.
He stays inside the house.
They stay within the limits.
The edits were limited to one file.
The rows are limited to ten.
Not a single test failed.
Nothing gets printed.
Nothing happened before noon.
The PR will be rejected, I fear.
My request was rejected.
It crashed before I could save it.
The lock is held until the job ends.
The job waits until the queue is empty.
We waited until noon.
He replies in French.
The docs are in English.
Can you reply in French?
You may want to look at the log.
You can see it in the console.
Find out why the order is lost and fix it.
Write a function that returns only even numbers
Show me what changed before the release.
Compare the prices before and after the discount.
No idea why it fails.
No luck so far.
No changes yet.
Not bad.
Why does it fail before each deploy?
The button does not work.
The mail does not arrive.
The table does not fit the screen.
I see nothing but a blank page.
The server is not responding.
Read-only mode is a nice feature.
The plan is not final.
Windows users see it, not Mac users.""",
    "other languages": """
Die Seite kann ich nicht öffnen.
Das lässt sich nicht ändern.
Die Tests wollen nicht laufen.
Ich fasse das nicht an.
Das funktioniert nicht.
Ich weiß nicht, warum.
Nur ein Test ist rot.
Keine Ahnung.
Bitte um Hilfe.
Das ist nicht schlimm.
Je ne sais pas.
Ça ne marche pas.
Il n'y a rien.
No es un error.
No tengo tiempo.
No hay datos.
No entiendo nada.
Não funciona.
Non funziona.
Non so perché.
这个不工作。
他只用了三天。
我不知道。
别的文件呢？
الصفحة لا تعمل.
لا أعرف لماذا.
테스트만 실패했어요.
テストだけ失敗しました。""",
}

LATER = {
    "Russian": """
Сервис падает только под нагрузкой.
Вчера меняли только конфиг.
Отчёт только что пришёл.
Я вижу только первые сто строк.
Клиент просил только счёт.
Осталось только задеплоить.
В логах только предупреждения.
Заказ только один.
Письма только на почту директора уходят.
Тесты только медленные.
Работает только первая кнопка.
Формат только запутал клиента.
Доступ только у админа сейчас.
Мы не торопимся.
Никуда не едем.
Вроде ничего не ломаем.
В этом спринте не успеваем.
С понедельника не работаем, праздники.
Кажется, не попадаем в бюджет.
Почему не шлём письма клиентам?
Пока не видим причин.
Бюджет проекта вырос до 40 000.
Дедлайн перенесли.
Срок хранения логов — три месяца.
Лимит у провайдера 100 запросов.
Билет до Москвы стоит 5 000.
Прочитай файл до конца.
Посчитай сумму за период до пятницы.
Поезд идёт до вечера.
Сравни план и факт, а не только суммы.
Ошибка в коде, а не в данных.
Красный, а не синий — так было раньше.
Виноват сервер, а не клиент.
Без VPN не открывается.
Без этого поля форма падает.
Без паники.
Никто ни слова не сказал.
Объяснять не нужно, я понял.
Перед обедом созвонимся.
Перед публикацией кто-то менял заголовок.
Сначала пришло письмо, затем звонок.
Покажи заказы, которые не дошли до клиента.
Обязательные поля отмечены звёздочкой.
Пишу по-русски, надеюсь, поймёшь.
Он пишет на хорошем английском.
Напиши, что не хватает в отчёте.
Найди, чего не хватает, и добавь.
Погода не меняется с утра.
Числа не сходятся с отчётом.
Этим объёмом не впечатлим клиента.""",
    "English": """
The report only covers March.
It only runs on Linux.
We deploy only twice a year.
Members only, says the sign.
The first column only has dates.
It broke right before the release.
Check the log before it rotates.
The server restarts before each test.
He asked for tabs, not spaces.
The answer is 5, not 6.
This one is mine, not yours.
A feature, not a bug.
They sell books, not toys.
Looks good, not perfect.
The budget grew to $400.
Our deadline moved.
The budget for the last project was $400.
The trip takes us by noon to Rome.
Find all orders by Friday's customers.
Increase the limit by 10 percent.
The build is limited to one hour.
Nothing gets logged.
Outside it will be cold.
The clerk waits until noon.
It holds until 5.
Reply all failed.
The chat in Slack is gone.
They answer in seconds.
Explain why it stays inside the loop.
The loop stays inside the function.
The due date column is empty.
Due to the outage I am late.
Cap the bottle.
The limit of x as n grows is 1.
Not a single row came back.
Only two may have failed.
Only you can fix it, haha.
Can only admins delete users?
Find out which users can only read.
Show me the orders that are not paid.
List files, not hidden ones, sorted by size.
I need a summary, not too long.
No later run has failed.
The mail says it must be paid.
Penicillin allergy is rare.
He stayed within the budget.
We spent less, not more.
Why not?""",
}
