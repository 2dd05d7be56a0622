"""One module for each version of the schema. A version that was released is never edited."""
