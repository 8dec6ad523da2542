"""The English half of the prose set: written by hand. Each case is (kind, place, goal, what was said, what is asked).

The answer to the last line depends on what was said; no identifier, number or rare word leads from one to the other.
"""

from __future__ import annotations

__all__ = ["CASES", "CHAT", "DOCS", "STEPS"]

Case = tuple[str, str, str, str, str]

CASES: tuple[Case, ...] = (
    ("fact", "user", "Help me plan my sister's birthday party for next month.", "By the way, she has been a strict vegetarian since university and gets upset when people forget it.", "Now put together the menu and send it to the caterer."),
    ("rule", "tool", "Process the refund requests that are waiting in the queue.", "Items bought during the clearance sale are exchanged for store credit; money goes back only if the goods arrived damaged.", "The customer wants cash back for the lamp from the clearance sale. Answer her."),
    ("decision", "assistant", "Migrate our billing service to the new cluster.", "After weighing both options we settled on moving the database first and keeping the application servers where they are for a week.", "Write the schedule of the migration."),
    ("fact", "tool", "Find out why the nightly backup keeps failing.", "The storage team mentioned that the volume becomes read only while the snapshots are rotated, shortly after midnight.", "Propose a better time for the backup job."),
    ("rule", "user", "Draft replies to our hotel guests' reviews.", "Our owner likes the replies to be signed with the first name of the manager on duty instead of the hotel's name.", "Here is a new review about breakfast. Write the reply."),
    ("decision", "user", "Redesign the landing page of the charity.", "The board chose the photograph with the children planting trees for the top of the page, even if I liked the other one.", "Build the hero section now."),
    ("fact", "user", "Organise the autumn offsite of the sales team.", "Marta gets seasick within minutes, so last year's boat was a misery for her.", "Choose the evening programme and book it."),
    ("rule", "tool", "Prepare the expense report of my trip.", "Taxi rides are reimbursed only between the airport and the hotel; anything else inside the city counts as private.", "Decide which of the rides go into the report."),
    ("decision", "assistant", "Improve the search of the online library.", "We agreed to treat short queries as titles and to leave full text matching for the long ones.", "Implement the handling of one-word queries."),
    ("fact", "tool", "Book a physiotherapist for my father.", "The practice near the market has stairs only and no lift, patients with walking aids are asked to go to the branch by the park.", "Father walks with crutches. Make the appointment at the right place."),
    ("rule", "user", "Manage the newsletter of our climbing gym.", "People complained, so we send it in the early evening on weekdays, when they are on their way to training.", "Schedule the next issue."),
    ("decision", "tool", "Coordinate the translation of our manual.", "In the review meeting the Italian team asked to keep the English names of all buttons, and this was accepted.", "Check the draft of the Italian chapter about the settings dialog."),
    ("fact", "assistant", "Set up the new office network.", "I noticed that the meeting room at the end of the corridor gets hardly any signal because of the concrete wall.", "Where do we mount the additional access point?"),
    ("rule", "tool", "Answer questions of tenants about the house.", "Bicycles belong in the shed behind the garage; whatever is locked to the staircase will be taken away by the caretaker.", "A tenant asks where she can leave her new bike. Reply."),
    ("decision", "user", "Write the script of our podcast episode about bees.", "I talked to Jonas and we want to open with the interview of the old beekeeper rather than with statistics.", "Write the first two minutes."),
    ("fact", "tool", "Help the support team with login problems.", "Accounts that were created by invitation have no password of their own; they always come in through the company's identity provider.", "An invited colleague cannot reset her password. What should we tell her?"),
    ("rule", "user", "Buy supplies for the kindergarten.", "Two of the kids react badly to nuts, so we look at the label of every snack before ordering.", "Order snacks for the excursion."),
    ("decision", "assistant", "Clean up the data pipeline.", "The plan now is to throw away incomplete rows at the entrance instead of filling the gaps with averages.", "Write the step that deals with missing measurements."),
    ("fact", "user", "Plan my parents' visit to the city.", "Dad had a hip operation in spring and cannot manage long walks.", "Arrange the sightseeing for Saturday."),
    ("rule", "tool", "Moderate the comments of the local newspaper.", "Posts that mention a private person's home are hidden first and discussed with the editor afterwards.", "Somebody posted where the councillor lives. Act on it."),
    ("decision", "user", "Prepare the launch of our mobile app.", "We will start in Portugal only, the other markets follow when the translations are done.", "Configure the countries in the store listing."),
    ("fact", "tool", "Tune the heating of the school building.", "The gym's thermostat hangs right above the radiator and therefore shows a warmer room than there is.", "The gym is reported as too warm but pupils are freezing. Explain."),
    ("rule", "assistant", "Review pull requests of the trainee.", "From what you told me, style remarks go into one summary at the end, inline comments are reserved for bugs.", "Review the newest change: its naming is odd, nothing is broken."),
    ("decision", "tool", "Arrange the furniture for the exhibition.", "The curator and the lender settled that the ceramics stand away from the windows, in the dim back room.", "Where does the vase from the loan go?"),
    ("fact", "user", "Look for a flat for me and my partner.", "We both work night shifts and sleep during the day, so a school yard next door would be terrible.", "Pick the best of the three offers."),
    ("rule", "tool", "Handle the bookings of the rehearsal rooms.", "Drummers get the basement, because the neighbours upstairs hear everything from the ground floor.", "A percussion trio would like to rehearse on Thursday. Give them a room."),
    ("decision", "assistant", "Rewrite the onboarding of new volunteers.", "You and I concluded that a mentor calls each newcomer in the first week, in place of the long email.", "Describe what happens after somebody signs up."),
    ("fact", "assistant", "Compare suppliers for packaging.", "While reading the samples report I saw that the cheaper cardboard gets soft when it is stored in the cold room.", "Choose the box for frozen fish."),
    ("rule", "user", "Run the social media account of our bakery.", "My grandmother hates it when her face is online, so pictures with her stay in the family album.", "Choose photos for the post about the anniversary."),
    ("decision", "user", "Prepare the theatre group's tour.", "We picked the small van and travel in two groups, the trailer was too much trouble last time.", "Plan the transport of the props."),
)  # fmt: skip

DOCS = (
    "Visitors register at the reception desk and receive a badge. The badge opens the glass doors on the first floor. It is returned in the evening.",
    "The printer on the second floor is used for posters. Paper in large formats is kept in the grey cabinet. Ask the front desk for the key of the cabinet.",
    "Plants in the lobby are watered twice a week. The gardener comes on Mondays and replaces what has withered. Nobody else should move the pots.",
    "The archive of photographs was digitised in winter. Each picture has a short description and the name of the photographer. Negatives are kept in the cellar.",
    "The canteen offers two dishes and a salad. In summer the terrace is open until the afternoon. Bringing one's own food is welcome.",
    "Parking is possible in the yard behind the building. Guests find free places near the fence. Trucks use the entrance at the back street.",
    "The course for beginners takes six evenings. Participants bring a notebook and comfortable clothes. At the end there is a small presentation.",
    "The release process begins with a freeze of features. Testers go through the list of known issues. The documentation is updated in parallel.",
    "The river trail is closed after heavy rain. Hikers may use the path through the forest. Signs at the bridge show the way.",
    "The laundry room is on the lower level. Machines take coins and tokens. The dryer on the left side is often out of order.",
    "The weather station measures wind and humidity. Its data is published every morning. Gaps are marked in the chart.",
    "Members borrow up to five books. Returns are possible in the box at the door. Damaged books are repaired by the workshop.",
)

CHAT = (
    "Thanks, that looks good. Please go on.",
    "Good morning! I had a busy day yesterday and only now come back to this.",
    "Could you also check whether the calendar of next week is complete?",
    "One of my colleagues was very happy about the last summary, she says hello.",
    "I will be in a meeting for an hour, just continue in the meantime.",
    "Fine with me. What else is on the list for today?",
    "The weather is awful here, so I have all the time in the world.",
    "Please have a look at the notes from the last call as well.",
    "That was quick! Let us take the next item.",
    "I am not sure about the wording of the second paragraph, but leave it for now.",
)

STEPS = (
    "I have gone through the list and sorted the entries by date. The oldest ones come first, and nothing seems to be missing from it.",
    "The notes of the last call are short. They mention the new chairs, the broken window and the guest lecture in autumn.",
    "Next I looked at the calendar. There are two free slots in the morning and a longer one after lunch.",
    "I compared both versions of the text. They differ in the introduction and in the order of the examples.",
    "The form was filled in and saved as a draft. I left the optional fields empty for the moment.",
    "I searched the shared folder and opened the three newest documents. One of them is a duplicate of an older file.",
    "The summary of the survey is ready. Most people are content with the opening hours and the friendly staff.",
    "I made a copy of the table and removed the columns that nobody uses. The totals are the same as before.",
    "The invitation went out to everyone on the list. Some addresses were returned and will be checked later.",
    "I read the thread about the furniture. In the end they ordered the same desks as last time.",
)
