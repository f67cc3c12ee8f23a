-- Why an instance does not respond, as the last worker that asked it saw it; null: it responds.
alter table instance add column silence text;
