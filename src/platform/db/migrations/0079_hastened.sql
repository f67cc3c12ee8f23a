-- Events that wait for a host which works again come before their schedule. An event that waits since a release before has
-- no host until it fails once more, and keeps its schedule until then.
alter table event
  -- host that the last attempt failed at
  add column failed_host text,
  -- when its schedule has the next attempt, while that is made earlier
  add column scheduled_at timestamptz,
  -- no earlier attempt because the host works before that
  add column hasten_after timestamptz,
  -- earlier attempts so far
  add column hastened smallint not null default 0;

-- step
alter table redelivery
  add column failed_host text,
  add column scheduled_at timestamptz,
  add column hasten_after timestamptz,
  add column hastened smallint not null default 0;

-- step
alter table attempt
  -- made before its schedule had it, so it takes no step of it
  add column hastened boolean not null default false;

-- step alone
create index concurrently event_failed_at_host on event (failed_host, hasten_after) where state = 'pending';

-- step alone
create index concurrently redelivery_failed_at_host on redelivery (failed_host, hasten_after) where state = 'pending';

-- step
-- Hosts that took something while other events wait for them. `hastenWaiting` takes the rows.
create table recovered_host (
  host text primary key,
  -- when the next events are hastened
  due_at timestamptz not null default clock_timestamp()
);

create index recovered_host_due on recovered_host (due_at);
