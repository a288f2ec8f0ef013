"""The server side of the Lab panel: answers over HTTP from the user's store."""
