"""Sentences that were written without a look at the patterns, and tried when those were done.

`BINDS` and `FREE` are worded as orders are; `PLAIN` are rules amid what people write, `PLAIN_FREE` tales and chat;
`OBLIQUE` are rules that are only implied, or said in a roundabout way. What each list scored at first sight stands in
`test_constraints.py`.
"""

BINDS = {
    "English": """
No cold calls to leads from the old list.
No Oxford commas in the press release.
no sugar, no gluten for table four
- no direct flights via Istanbul
Please no voice messages.
The witness statements shouldn't be paraphrased.
Penicillin is not to be prescribed here.
The tenant's address should not appear in the lease draft.
You should not under any condition rotate the keys today.
I don't want you rewriting my ending.
I do not want the hotel to charge my card.
I'd rather you didn't quote the plaintiff by name.
We would prefer you not ship to the warehouse.
I forbid any contact with the press.
You're prohibited from opening attachments.
You are not permitted to discuss the settlement.
Get sign-off from legal before filing.
Ask for my consent before sharing the X-rays.
Wait for my confirmation before issuing the ticket.
Don't issue refunds until I've approved them.
Have the pharmacist's approval before raising the dose.
dont ship to the po box thx
pls DO NOT upgrade me to premium
Do _not_ change the narrator.
You **must not** reboot the NAS.
Leave invoice INV-2044 as is.
Keep your fingers off the firewall.
Stay away from idioms.
Keep his diagnosis out of the letter.
Quit adding emojis.
Stop using semicolons.
It's vital that you do not mix up the two patients.
Be sure not to drop the foreign keys.
Could you please not use my first name?
Can you please stop sending SMS?
You'd better not touch the DNS.
Max 2 layovers.
At most three adverbs a page.
The refund may not exceed the purchase price.
Nothing above 120 mg.
The seat must be on the aisle.
Any discount over 10% requires my approval.
""",
    "Russian": """
Не спамь клиентам.
Не релизь сегодня.
Не блокируй аккаунт.
Не сдавай билеты.
Не хардкодь пароли.
Не ври пациенту.
Не пиши от первого лица.
Не рискуй деньгами клиента.
Не выкладывай черновик.
Не звони свидетелю.
Не лей воду в тексте.
Не трать больше 100 долларов.
Никаких ночных пересадок.
Никаких уменьшительных слов.
Никаких правок в договоре!
Никаких скидок без меня.
Счёт INV-2044 не оплачивать.
Показания свидетеля не пересказывать.
Ключи от склада никому не отдавать.
Антибиотик без анализа не назначать.
Файл docker-compose.yml не редактировать.
Прошу не называть имя истца.
Просьба не стучать в номер.
Попрошу без звонков.
Не разрешаю делиться снимками.
Делиться снимками не допускается.
Мы не хотим, чтобы вы писали журналистам.
Не хочу, чтобы бот отвечал за меня.
Перед выпиской билета дождись моего подтверждения.
Спрашивай у меня, прежде чем списывать.
Получай моё добро на каждую публикацию.
Показывай мне письмо перед отправкой.
Согласуй с юристом до подписания.
Смотри не перепутай пациентов.
Смотрите, не забудьте про аллергию.
Склад — только на чтение.
Оставьте счёт в покое.
Хватит добавлять смайлики.
Не больше двух пересадок.
Возврат не может превышать цену покупки.
Место должно быть у прохода.
Ни в коем случае не перезагружайте NAS.
""",
}
FREE = {
    "English": """
No signal in the tunnel, sorry.
No reply so far.
No changes since yesterday.
No big deal.
No progress on the ticket.
No clue what happened there.
No, I would like to keep it.
No vacancies were left.
You must be new here.
The battery must be dead.
They must be busy.
She must have taken the wrong train.
The linter says "line must not exceed 79 characters".
The form shows "You must enter a phone number".
> Please do not use my old address. Never.
```\\nassert x, 'must be positive'  # do not remove\\n```
The patient should not have been discharged.
It shouldn't matter.
I don't want to talk about it.
I don't want another flight, I liked this one.
I stopped taking the pills.
The doctor asked me not to eat.
We got approval last week.
Let me check before I answer.
The pool is off on Mondays and I never swim.
Did you leave the door open?
Is it true that I must pay in advance?
Isn't it forbidden in Germany?
The max temperature was 38.2.
The price may not include breakfast.
He told me never to come back.
I can't find my booking.
""",
    "Russian": """
Не спится.
Не успел оформить.
Не получается войти в кабинет.
Не наш случай.
Не дорого, но и не дёшево.
Не совсем понял.
Не всегда так было.
Не открывается страница.
Не против.
Не вопрос, сделаем.
Не тот цвет пришёл.
Никаких следов посылки.
Никакой реакции от поддержки.
Никаких писем от вас не было.
Нет связи.
Ни разу не летал.
Аптека не работала, и я не купил.
Врач просил меня не есть.
Мы решили не ехать.
Можно не звонить, я сам приеду.
Вы не звонили вчера?
Почему нельзя вернуть билет?
Правда ли, что нельзя вернуть билет?
Батарея, должно быть, села.
Валидатор пишет: «длина не должна превышать 79».
> Прошу не использовать мой старый адрес. Никогда.
```\\n# не удалять, нельзя\\nreturn x\\n```
Он боялся не успеть.
Я не отказываюсь от билета.
Мне запретили кофе.
Жду подтверждения от банка.
Я получил согласие врача.
""",
}
OBLIQUE = {
    "English": """
Whatever you do, the customer's CVV stays out of the ticket.
Before anything goes to print, I want to see it.
Production is frozen until Tuesday, so nothing gets deployed.
Let's keep this between us.
Nobody outside the team is supposed to see this.
I'm allergic to penicillin, so that one is out.
The contract stays as it is.
You can draft the reply but I'll be the one to send it.
Just look, don't change anything yet.
Reply to the customer in French only.
Anything over $200 goes through me.
If the build is red, you stop and wait.
We can't afford to lose this data, so back up first, always.
There's a hard limit of 3 retries.
Under no circumstances may the patient's name appear.
The tone has to be formal throughout.
pls no emojis in the changelog
Not a word to the landlord!
Skip the database migrations, I'll run those myself.
Double rooms are fine, hostels are not.
Do not, I repeat, do not touch the billing cron.
And for heaven's sake don't reply-all.
I want it delivered by May 3 at the latest.
Only book refundable fares.
Make absolutely sure that the old key keeps working.
You're not to discuss settlement amounts with anyone.
My daughter mustn't find out about the present.
Any edits to chapter 3 need to go past my editor first.
Ensure nobody gets charged twice.
Don't even think about force-pushing.
None of the tests may be skipped.
Neither the date nor the venue can be changed.
The API key belongs in the vault and nowhere else.
Feel free to refactor, as long as the public API doesn't change.
Just no window seat, please.
I won't accept anything later than 6 pm.
Please be careful with ORD-9: it must not ship twice.
At no point share my screen.
Your budget: 1,200 EUR, not a cent more.
Hold the order till I get back to you.
""",
    "Russian": """
Что бы ни случилось, CVV в тикет не попадает.
Прежде чем это пойдёт в печать, я хочу это увидеть.
Прод заморожен до вторника, так что ничего не выкатываем.
Пусть это останется между нами.
Посторонним этого видеть не положено.
У меня аллергия на пенициллин, его исключаем.
Договор остаётся как есть.
Черновик напиши, но отправлю я сам.
Просто посмотри, ничего пока не меняй.
Клиенту отвечай только по-французски.
Всё, что дороже 200 долларов, — через меня.
Если сборка красная — остановись и жди.
Нельзя потерять эти данные, поэтому сначала бэкап, всегда.
Жёсткий лимит — 3 повтора.
Имя пациента нигде не должно фигурировать.
Тон обязан быть официальным.
плиз без смайликов в чейнджлоге
Ни слова хозяину квартиры!
Миграции не запускай, я сам.
Двухместные номера можно, хостелы нельзя.
Не трогай, повторяю, не трогай крон биллинга.
И ради бога, не отвечай всем сразу.
Нужно доставить не позднее 3 мая.
Бронируй только возвратные тарифы.
Обязательно проверь, что старый ключ работает.
Суммы соглашения ни с кем не обсуждай.
Дочь не должна узнать о подарке.
Любые правки третьей главы — сначала через редактора.
Следи, чтобы никого не списали дважды.
Даже не думай делать форс-пуш.
Ни один тест пропускать нельзя.
Ни дату, ни место менять нельзя.
Ключ хранится в сейфе и больше нигде.
Рефактори сколько хочешь, лишь бы публичный API не менялся.
Только не у окна, пожалуйста.
Позже 18:00 меня не устроит.
Осторожнее с ORD-9: дважды отправлять нельзя.
Мой экран никому не показывай.
Бюджет 1200 евро, ни центом больше.
Придержи заказ, пока я не вернусь.
""",
}
OBLIQUE_FREE = {
    "English": """
The nurse must be on her break.
I could not find any seats.
No one from your team called me back.
I never said that.
My flight was cancelled and I don't know why.
It only happens on Mondays.
They always send it late.
Do I need your approval for that?
That's not the address I gave you.
I'd rather take the train myself.
The previous agent told me it was not allowed.
Not sure what else to try.
There is no rush at all.
We do not have a contract with them.
I can't stop laughing.
The judge did not allow the motion.
It would be nice to have a sea view.
This is the only size left.
The docs don't mention that flag.
No Wi-Fi on board, unfortunately.
I think the dog ate it.
You should be able to log in now.
Why don't we try the other branch?
Nothing happened after that.
I had to ask for permission twice.
The recipe doesn't need sugar.
He keeps asking me for money.
The script must have deleted it.
Please find the invoice attached.
Thanks, no further questions.
""",
    "Russian": """
Медсестра, должно быть, на перерыве.
Не нашла свободных мест.
Никто из ваших мне не перезвонил.
Я такого никогда не говорил.
Рейс отменили, и я не знаю почему.
Это бывает только по понедельникам.
Они всегда опаздывают.
Нужно ли мне ваше согласие?
Это не тот адрес, что я давал.
Я лучше сам поеду на поезде.
Прошлый оператор сказал, что это не разрешается.
Не знаю, что ещё попробовать.
Спешки никакой нет.
Договора с ними у нас нет.
Не могу перестать смеяться.
Судья не удовлетворил ходатайство.
Хорошо бы вид на море.
Остался только этот размер.
В документации этот флаг не упомянут.
Вай-фая на борту нет, увы.
Кажется, собака его съела.
Теперь вы сможете войти.
Может, попробуем другую ветку?
После этого ничего не случилось.
Пришлось дважды просить разрешения.
В рецепт сахар не нужен.
Он всё время просит денег.
Скрипт, наверное, его удалил.
Счёт во вложении.
Спасибо, больше вопросов нет.
""",
}
PLAIN = {
    "English": """
hey, quick thing: when you update the tickets pls dont close any of them
While you're in there, please don't rename any of my functions.
We have a code freeze, so no merges to release/2.x until further notice.
You are only allowed to read from the replica.
Don't book anything with a layover longer than three hours.
Under HIPAA we cannot include the patient's date of birth.
The deposition summary must not be longer than two pages.
If he asks for a discount, say no.
I do not want to be contacted by phone.
I'd prefer not to fly with that airline again.
Refunds go back to the original card only.
Everything must be done by Friday noon.
Write it in British English and never use contractions.
Under no condition should the intern get admin rights.
She can't have gluten, so nothing with wheat.
Keep in mind that the gate code must never be written down.
You have to ask the tenant before you enter the flat.
Nothing may be posted without legal having seen it.
Don't let the total go over 900.
No touching the thermostat!
The API must remain backward compatible.
Not on weekends, please.
Please avoid early morning flights.
Never, ever delete from the audit table.
Do this without restarting the pods.
You shall not disclose the salary bands.
For compliance reasons, logs need to be kept for 90 days.
This is read only access, do not attempt to write.
I don't want a voucher, only a refund to my card.
Only touch the CSS, nothing else.
""",
    "Russian": """
слушай, когда будешь обновлять тикеты, не закрывай ни один плиз
Пока ты там, не переименовывай мои функции.
У нас фриз, поэтому никаких мержей в release/2.x до отмашки.
Тебе можно только читать с реплики.
Не бери ничего с пересадкой дольше трёх часов.
По закону мы не можем указывать дату рождения пациента.
Справка должна быть не длиннее двух страниц.
Если он попросит скидку, отказывай.
Не надо мне звонить.
Этой авиакомпанией я больше летать не хочу.
Возврат только на исходную карту.
Всё должно быть готово к полудню пятницы.
Пиши на «вы» и никогда не сокращай слова.
Стажёру ни при каком раскладе не давать админа.
Ей нельзя глютен, так что ничего с пшеницей.
Имей в виду: код от ворот записывать нельзя.
Прежде чем входить в квартиру, обязательно спроси жильца.
Без юриста ничего не публиковать.
Следи, чтобы сумма не вышла за 900.
Термостат не крути!
API должен остаться обратно совместимым.
Только не по выходным.
Ранние утренние рейсы не предлагай.
Никогда и ни за что не удаляй из таблицы аудита.
Сделай это без перезапуска подов.
Вилки зарплат разглашать запрещено.
Логи обязаны храниться 90 дней.
Доступ у тебя только на чтение, писать не пытайся.
Ваучер не нужен, только деньги на карту.
Трогай только CSS, больше ничего.
""",
}
PLAIN_FREE = {
    "English": """
The build must be red because of the new linter.
There was no answer at the door.
My boss never lets me work from home.
No matter what I try, it fails.
I only wanted to know the price.
The bug should not be hard to reproduce.
They don't accept my card for some reason.
I always fly with you.
Last week the agent would not let me change it.
It's not that I don't trust you.
Didn't you say it was free?
The museum is not open on Mondays.
No need to apologize.
I couldn't care less about the colour.
You should have received my email.
We must have met before.
My doctor and I never discussed that.
No updates for two days now.
The test only fails in CI.
Do not get me wrong, I like it.
He said "never again" and left.
The flight can't be full already.
It won't start.
The old man always sat in front of the house.
Sorry, I don't have the number with me.
""",
    "Russian": """
Сборка, наверное, красная из-за нового линтера.
Дверь никто не открыл.
Начальник никогда не отпускает меня домой.
Что бы я ни пробовал, всё падает.
Я только хотел узнать цену.
Баг несложно воспроизвести.
Мою карту почему-то не принимают.
Я всегда летаю с вами.
На прошлой неделе оператор не дал мне поменять.
Не то чтобы я вам не доверял.
Разве вы не говорили, что это бесплатно?
Музей по понедельникам не работает.
Не нужно извиняться, всё хорошо.
Мне не важен цвет.
Вы должны были получить моё письмо.
Мы, должно быть, встречались.
Мы с врачом это никогда не обсуждали.
Вот уже два дня никаких обновлений.
Тест падает только в CI.
Не поймите меня неправильно, мне нравится.
Он сказал «больше никогда» и ушёл.
Рейс не может быть уже полным.
Не заводится.
Старик всегда сидел перед домом.
Извините, номера у меня с собой нет.
""",
}
