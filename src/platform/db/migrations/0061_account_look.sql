-- What the address of an account looks like, by which one account has it. Null: another account looked so before, or the
-- release before added it.
alter table sign_in_account add column look text;
-- Others than those of ASCII are written before the next account is added.
update sign_in_account set look = email where email ~ '^[\x21-\x7e]+$';

-- step alone
create unique index concurrently sign_in_account_look on sign_in_account (look);
-- step alone
create index concurrently sign_in_account_without_look on sign_in_account (created_at) where look is null;
