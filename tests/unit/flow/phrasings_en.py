"""English sentences that bind and that do not, by kind; they were before our eyes while the patterns were written.

A line is a text; `\\n` in it is a line break.
"""

BINDS = {
    "no thing": """
No emails to customers.
No force-pushes, ever.
- no force pushes
* No secrets in logs.
1) no deploys on Friday
Absolutely no refunds above 500 EUR.
No red-eye flights, please.
No middle seats.
No penicillin for this patient.
No adverbs in the dialogue.
No new dependencies.
No hardcoded passwords.
No alcohol and no raw fish for her.
Rules: no direct commits to main, no skipped tests.
Refund the tent, but no vouchers.
No calls after 8 pm.
No more discounts for this customer.
Strictly no phone numbers in the report.
There should be no PII in the export.
There must be no mention of the lawsuit.""",
    "should not": """
ORD-77 should not be cancelled.
ORD-77 shouldn't be cancelled.
ORD-77 is not to be cancelled.
The invoices are not to be sent before Monday.
Aspirin should not be given to this patient.
You should not contact the witness.
You shouldn't merge without a green build.
The essay should not mention his name.
The hotel should not be further than 2 km from the station.
The old table should not get dropped.
Customers may not be contacted by phone.
The clause is not to be changed.
I think you should not touch the cluster.
The summary should not exceed 200 words.
The dose ought not to be raised.
My passport number is not to be shared with the airline.
The prod database isn't to be touched.
The backups aren't to be deleted.""",
    "a first person forbids": """
I don't want you to cancel ORD-204.
I do not want you to email the client.
We don't want anyone to touch prod.
I don't want any emails sent to customers.
I don't want the order to be cancelled.
I'd rather you didn't restart the server.
I would rather you did not mention the price.
I'd prefer that you don't rebook me.
I'd prefer it if you didn't call the clinic.
I forbid you to open the archive.
I strictly forbid any changes to the contract.
I'm asking you not to publish it yet.
I need you not to touch the migration files.
I beg you not to delete the chats.
I won't allow any layoffs to be mentioned.
I do not authorize any payment above 100 USD.
I don't consent to sharing my records.
I'd appreciate it if you didn't post that.
You're forbidden from using sudo.
You are not authorized to sign contracts.
You do not have permission to write to the bucket.
You aren't allowed to book business class.""",
    "leave to ask for": """
Ask for my confirmation before every payment.
Get my approval before booking.
Get approval from the tech lead before you merge.
Wait for my OK before sending.
Wait for my go-ahead.
Obtain written consent before sharing records.
Seek my permission before every refund.
Run it by me before you publish.
Check with me before upgrading the cluster.
Let me approve the draft before it goes out.
Show me the diff before you commit.
Every refund needs my approval.
Any change to the dose requires my sign-off.
Request my confirmation for each transfer.
Have me confirm each transfer first.
Await my green light before you deploy.
Please get explicit permission before deleting anything.
Double-check with us before you charge the card.
Always ask my permission first.""",
    "careless writing": """
pls dont delete anything
DONT TOUCH PROD
dont cancel ord 77 pls
u must not email them
plz never share my number
Do **not** push to main.
**Never** call the customer.
You must *not* rename the table.
Do __not__ reply to the journalist.
**Do not** book a hostel.
> **Important:** never delete the audit log.
please don´t change the font
Dont you dare drop the table
cant touch the db without asking me
you shouldnt send it""",
    "hands off": """
Please leave ORD-77 alone.
Leave /etc/hosts untouched.
Leave the third paragraph as it is.
Keep your hands off the production database.
Hands off the billing module!
Stay away from the legacy tables.
Stay out of /var/lib.
Steer clear of medical advice.
Keep away from his calendar.
Keep customer names out of the logs.
Keep the surprise party secret.
Stop emailing the suppliers.
Hold off on the refund until Monday.
Treat production as read-only.
The staging database is read-only for you.
Keep out of the payroll folder.""",
    "care": """
It's important that you don't cancel it.
It is essential not to wake the patient.
It's crucial that nobody sees the draft.
Be careful not to overwrite the backup.
Take care not to mention the merger.
Make sure you don't double-charge him.
Try not to use passive voice.
You'd better not restart it.
Can you please not rename the columns?
Could you please not call me before noon?
Would you mind not sharing this?
Can you please leave the header alone?
Could you please make sure not to ship it to the old address?
Please not before Friday.
Remember not to tell his wife.
See to it that nothing gets lost.""",
    "limits": """
Max 500 EUR.
Maximum 3 nights.
500 EUR max.
The budget may not exceed 2,000 dollars.
The total can't exceed 80 mg a day.
Budget is capped at 300 EUR.
Spend no more than 40 euros.
Stay under 500 EUR.
Keep it below 200 words.
Nothing over 30 dollars.
The whole trip must stay within 1500 EUR.
Do the refund, max. 100 EUR.
Use a maximum of two retries.""",
}

FREE = {
    "guesses": """
You must be tired.
The service must be down again.
You must be hungry after the trip.
It must be raining over there.
He must be joking.
They must have forgotten the invoice.
That must be why it fails.
You must know her, she works in billing.
The link must be broken.
It must have cost a fortune.""",
    "quoted": """
The error says: "must be a string".
The log says "do not retry".
I get an error: 'field must not be empty'.
It fails with "You must provide a token".
The compiler complains: "value must never be null".
> Never call me again!
> You must not cancel my order.
> > Do not reply to this mail. Never answer it.
What does "must not be null" mean?
Translate "Do not disturb" into German.
```\\n# never call this directly\\nraise ValueError('must not be empty')\\n```
Here is the code:\\n```python\\ndef f():\\n    # do not touch this\\n    only = 1\\n```\\nWhy is it slow?
~~~\\nnever push to main\\n~~~
The message `you must not do this` shows up in the console.""",
    "no news": """
No problem.
No idea why it fails.
No tests were run.
No one answered.
No, thanks.
No worries!
No need to hurry.
No errors so far.
No results found.
No luck with the other branch.
No response from the carrier yet.
No doubt it was the cache.
No wonder it is slow.
No files changed.
No rush.
No such file or directory
There was no email in my inbox.
I have no receipt.
No news from the clinic.
No known allergies.""",
    "tales and complaints": """
The test should not be so slow, right?
I did not delete it.
This shouldn't take so long.
That should not have happened.
It should not be a problem.
I don't want to wait any longer.
I don't want it.
I didn't want you to get hurt.
He stayed away from the office.
She left the house alone.
We stopped emailing them last year.
I was forbidden to enter.
My boss got approval before the launch.
We always got permission from the city.
Leave a comment below.
The maximum is stored in a variable.
I bought an iPhone 14 Pro Max 256 GB.
It may not work on Windows.
It may not be installed.
The file system is read-only, so the write fails.
Can you not see the attachment?
Why should it not be possible?
I keep my keys in the drawer.
I should not have eaten that.
Don't worry about it.
The app doesn't stop crashing.
I don't think you understand.
It seems that you don't have access.
He asked for permission before the trip.
I have to admit it is nice.""",
}
