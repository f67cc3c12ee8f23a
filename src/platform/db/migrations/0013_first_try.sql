-- The first tries at telling receivers of events, as a queue of its own: it stays small however many events there are.
-- Triggers keep it true, so a statement that settles an event need not know of it.
-- earlier: e24bddbb2fadc262fd2d4e9c9d30e1602ed4f728361666754b759fbbff267b4f
-- earlier: 5fea2e7b1b390ba2326da4e73d3131582a6969236cdb4a4b233f6f5eb2858adf

create table first_try (
  event_id uuid primary key references event (id) on delete cascade,
  task_id uuid not null,
  sequence integer not null,
  -- whom the try counts for: accounts take turns
  account text not null,
  -- of the receiver, with its port
  host text not null,
  -- when a worker may take it; ahead of the clock while one holds it
  due_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

create index first_try_by_account on first_try (account, due_at);
create index first_try_by_host on first_try (host, due_at);
create index first_try_by_task on first_try (task_id, sequence);

create function host_of(url text) returns text language sql immutable strict parallel safe
return coalesce(lower(substring(url from '^[^:]*://([^/?#]*)')), '');

create function queue_first_try() returns trigger language plpgsql as $$
begin
  insert into first_try (event_id, task_id, sequence, account, host)
  select new.id, new.task_id, new.sequence, coalesce(t.account, t.owner), host_of(t.webhook_url)
  from task t
  where t.id = new.task_id;
  return null;
end $$;

create function leave_first_try() returns trigger language plpgsql as $$
begin
  delete from first_try where event_id = new.id;
  -- the events behind it have waited for it
  if new.state <> 'pending' then
    update first_try set due_at = clock_timestamp()
    where task_id = new.task_id and sequence > new.sequence and due_at > clock_timestamp();
  end if;
  return null;
end $$;

-- `transitionTask` inserts most events; `takeFirstTries` takes the rows.
create trigger event_enters_first_try after insert on event for each row
  when (new.state = 'pending' and new.failures = 0)
  execute function queue_first_try();

create trigger event_leaves_first_try after update of state, failures on event for each row
  when (old.state = 'pending' and (new.state <> 'pending' or (old.failures = 0 and new.failures > 0)))
  execute function leave_first_try();

-- step alone
-- Those that were there before, of a few tasks at a time. The lock is that of whoever settles an event. A worker of the
-- release before may be sending one of these: it has 20 seconds for it.
do $$
declare
  last uuid := '00000000-0000-0000-0000-000000000000';
  tasks uuid[];
begin
  loop
    tasks := array(
      select distinct task_id from event
      where state = 'pending' and task_id > last
      order by task_id limit 200
    );
    exit when cardinality(tasks) = 0;
    perform from event where task_id = any(tasks) and state = 'pending' order by id for no key update;
    insert into first_try (event_id, task_id, sequence, account, host, due_at)
    select e.id, e.task_id, e.sequence, coalesce(t.account, t.owner), host_of(t.webhook_url),
      clock_timestamp() + interval '20 seconds'
    from event e
    join task t on t.id = e.task_id
    where e.task_id = any(tasks) and e.state = 'pending' and e.failures = 0
    on conflict (event_id) do nothing;
    last := tasks[cardinality(tasks)];
    commit;
  end loop;
end $$;
