"""How far each study has come on each population, read from declarations, evidence and ledger; nothing is written."""
