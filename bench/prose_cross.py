"""Across languages: the goal and the request in one language, what was said in the other. (kind, place, goal, said, asked)."""

from __future__ import annotations

__all__ = ["CASES"]

CASES: tuple[tuple[str, str, str, str, str], ...] = (
    ("fact", "tool", "Подбери подарок для нашего бухгалтера.", "Anna told us that she is crazy about gardening and spends every weekend with her roses.", "Выбери подарок из каталога и оформи заказ."),
    ("rule", "tool", "Подготовь договор с новым арендатором.", "Pets are accepted in the house as long as they are small and the neighbours have no objection.", "Арендатор спрашивает, можно ли завести собаку. Ответь ему."),
    ("decision", "assistant", "Обнови программу лояльности авиакомпании.", "We concluded that miles stay valid as long as the traveller flies at least once a year.", "Опиши, когда сгорают мили."),
    ("fact", "user", "Составь меню для свадьбы.", "The groom cannot eat anything with wheat, even traces make him ill.", "Утверди десерты с кондитером."),
    ("rule", "tool", "Отвечай на вопросы гостей музея.", "Photographs are allowed without flash, tripods have to be left at the cloakroom.", "Посетитель спрашивает, можно ли снимать со штативом."),
    ("decision", "tool", "Спланируй ремонт школьного спортзала.", "The parents voted for wooden floor boards and against the rubber coating.", "Закажи покрытие для пола."),
    ("fact", "tool", "Выбери время для уборки бассейна.", "The swimming club trains before sunrise and needs the water from six o'clock on.", "Назначь время чистки бассейна."),
    ("rule", "user", "Публикуй новости нашего приюта для животных.", "Photos of injured animals frighten the children, we show them only after they have recovered.", "Выбери фото найденного котёнка для публикации."),
    ("rule", "tool", "Ответь на письма читателей библиотеки.", "Children under twelve borrow only together with a parent, and comics stay in the reading room.", "Мальчик просит взять комикс домой. Что ему ответить?"),
    ("decision", "user", "Организуй переезд мастерской.", "We talked it over and the heavy lathe stays where it is, the new owner wants to buy it.", "Составь список того, что грузим в машину."),
    ("fact", "tool", "Choose a present for our accountant.", "Анна рассказывала, что обожает садоводство и все выходные проводит со своими розами.", "Pick a present from the catalogue and place the order."),
    ("rule", "tool", "Prepare the contract with the new tenant.", "Домашние животные в доме допускаются, если они небольшие и соседи не возражают.", "The tenant asks whether he may get a dog. Answer him."),
    ("decision", "assistant", "Update the loyalty programme of the airline.", "Мы пришли к выводу, что мили действуют, пока пассажир летает хотя бы раз в год.", "Describe when miles expire."),
    ("fact", "user", "Put together the menu of the wedding.", "Жених не переносит пшеницу, даже от следов муки ему становится плохо.", "Settle the desserts with the confectioner."),
    ("rule", "tool", "Answer questions of museum guests.", "Снимать разрешается без вспышки, штативы сдают в гардероб.", "A visitor asks whether a tripod is allowed."),
    ("decision", "tool", "Plan the renovation of the school gym.", "Родители проголосовали за деревянный пол и отказались от резинового покрытия.", "Order the material for the floor."),
    ("fact", "tool", "Find a time for cleaning the swimming pool.", "Плавательный клуб тренируется до рассвета, вода нужна ему с шести часов.", "Fix the time for cleaning the pool."),
    ("rule", "user", "Publish the news of our animal shelter.", "Фотографии раненых животных пугают детей, мы показываем их только после выздоровления.", "Choose a photo of the found kitten for the post."),
    ("rule", "tool", "Answer the letters of the library's readers.", "Детям до двенадцати лет книги выдают только вместе с родителем, а комиксы читают в зале.", "A boy would like to take a comic home. What do we answer?"),
    ("decision", "user", "Organise the move of the workshop.", "Мы всё обсудили: тяжёлый станок остаётся на месте, его купит новый владелец.", "Make the list of what goes on the truck."),
)  # fmt: skip
