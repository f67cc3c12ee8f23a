-- Whom a task counts for: an owner, or without a credential the client's address.
-- earlier: e1cfeb5b97bb342671432390c538d192725054dae42e2871c071c9324bb6253e

alter table task
  -- a row of `owner`: its slots and credits. Null in a task that an older release made: then it is the owner
  add column account text,
  -- of its files and payload, as the account counts them until they are removed
  add column stored_bytes bigint not null default 0;

-- step
alter table upload add column stored_bytes bigint not null default 0;

-- step
alter table owner add column stored_bytes bigint not null default 0;

comment on table owner is
  'accounts: the owners, and a digest of the address for each of the anonymous. The row of an owner is also the lock under which slots are given away';

-- The lock of all anonymous tasks: ANONYMOUS_SLOTS bounds them together.
insert into owner (id) values ('anonymous') on conflict do nothing;

-- step alone
create index concurrently task_open_by_account on task (account) where ended_at is null;
