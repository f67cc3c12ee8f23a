-- A task that may not begin is a row that says why; only its admission starts its workflow.

alter table task
  -- why it may not begin: `pause:` or `breaker:` with the scope, `template:` with a file that cannot be used, `slot`,
  -- `behind` or `turn`; null: it is admitted, or has ended
  add column waits_on text,
  -- number of its admissions, which the run of its workflow has, too
  add column admission integer not null default 0,
  -- by when it must have begun, and have ended; `off_peak_by` is the service's own
  add column start_by timestamptz,
  add column end_by timestamptz,
  add column off_peak_by timestamptz,
  drop column held_seconds;

alter table task rename column held_at to waits_since;

-- Workers that serve queues. Whoever tops up a queue, and whoever says that nobody serves one, reads them.
create table worker (
  id uuid primary key,
  role text not null,
  -- by the name of a queue: how many it takes at once
  slots jsonb not null,
  beat_at timestamptz not null default clock_timestamp(),
  -- it has stopped
  ended_at timestamptz
);

-- step
-- The release before has no admissions: each open task waits for its first, under this number, and keeps its slot.
update task
set waits_on = case when family = 'video' and admitted_at is null then 'slot' else 'turn' end,
  admission = 1,
  account = coalesce(account, owner),
  start_by = created_at + make_interval(secs => start_within),
  end_by = created_at + make_interval(secs => end_within),
  off_peak_by = case when off_peak then created_at + interval '48 hours' end,
  waits_since = case when claimed_at is not null then coalesce(waits_since, clock_timestamp()) end
where ended_at is null;

-- step alone
create index concurrently task_waiting
  on task (family, engine, waits_on, account, priority desc, created_at, id)
  where waits_on is not null and ended_at is null;

-- step alone
create index concurrently task_unclaimed on task (family, engine, account)
  where waits_on is null and claimed_at is null and ended_at is null;

-- step alone
create index concurrently task_deadline
  on task (least(case when claimed_at is null then start_by end, end_by, off_peak_by))
  where ended_at is null and coalesce(start_by, end_by, off_peak_by) is not null;

-- step alone
drop index concurrently if exists task_ahead;

-- step alone
create index concurrently task_ahead on task (account, engine, priority)
  where family = 'image' and claimed_at is null and ended_at is null
    and (waits_on is null or waits_on in ('turn', 'behind'));

-- step
-- Whether what a task waits on holds now: a pause counts until its end, a breaker while it is open.
create function blocks(waits_on text) returns boolean language plpgsql stable as $$
begin
  return case
    when waits_on like 'pause:%' then exists (
      select from pause p where p.scope = substr(waits_on, 7)
        and coalesce(p.until > clock_timestamp(), true))
    when waits_on like 'breaker:%' then exists (
      select from breaker b where b.scope = substr(waits_on, 9) and b.opened_at is not null)
    else waits_on = 'slot' or waits_on like 'template:%'
  end;
end
$$;

-- What of a family and engine waits on and no longer blocks: few words, each found by a step of the index.
create function resumable_waits(of_family text, of_engine text) returns text[] language plpgsql stable as $$
declare
  word text := '';
  words text[] := '{}';
begin
  loop
    select min(waits_on) into word from task
    where family = of_family and engine = of_engine and waits_on > word
      and waits_on is not null and ended_at is null;
    exit when word is null;
    if not blocks(word) then words := words || word; end if;
  end loop;
  return words;
end
$$;

-- Scopes of pauses and breakers that a task is of.
create function task_scopes(engine text, family text, kind text, owner text) returns text[]
language sql immutable
return array['all', 'engine:' || engine, 'engine:' || engine || ':' || family, 'kind:' || kind,
  'owner:' || owner];

-- Why a task may not begin now; null: it may. What runs at an upstream is let go on by a pause.
create function task_block(t task) returns text language plpgsql stable as $$
declare
  found_scope text;
  scopes text[] := task_scopes(t.engine, t.family, t.kind, t.owner);
begin
  if t.upstream_id is null then
    select p.scope into found_scope from pause p
    where p.scope = any(scopes) and coalesce(p.until > clock_timestamp(), true)
    order by p.until desc nulls first limit 1;
    if found then return 'pause:' || found_scope; end if;
  end if;
  select b.scope into found_scope from breaker b
  where b.scope = any(scopes) and b.opened_at is not null and b.probe_id is distinct from t.id
  order by b.scope limit 1;
  if found then return 'breaker:' || found_scope; end if;
  if t.family = 'video' then return case when t.admitted_at is null then 'slot' end; end if;
  -- One of a higher priority has a line of its own in Temporal, and a turn of the account is its turn.
  if t.claimed_at is null and exists (
    select from task ahead
    where ahead.account = t.account and ahead.engine = t.engine and ahead.priority > t.priority
      and ahead.family = 'image' and ahead.claimed_at is null and ahead.ended_at is null
      and (ahead.waits_on is null or ahead.waits_on in ('turn', 'behind'))
  ) then return 'behind'; end if;
  return null;
end
$$;

-- A task is admitted where it is made, unless something blocks it, or others of its account may go on and have not yet.
create function admit_new_task() returns trigger language plpgsql as $$
begin
  new.waits_on := task_block(new);
  if new.waits_on is null and exists (
    select from task w
    where w.family = new.family and w.engine = new.engine and w.account = new.account
      and w.waits_on = any(resumable_waits(new.family, new.engine))
      and w.waits_on is not null and w.ended_at is null
  ) then new.waits_on := 'turn'; end if;
  if new.waits_on is null then new.admission := 1; end if;
  return new;
end
$$;

-- `insertTask` inserts the task.
create trigger task_admitted before insert on task
for each row when (new.ended_at is null) execute function admit_new_task();

-- The state of a task in the words that both families share; `task_state` knows no more than a move does.
create function current_state(status text, error_code text, waits_on text) returns text
language sql immutable parallel safe
return case
  when waits_on is not null then 'waiting'
  when status in ('CREATED', 'created') then 'queued'
  else task_state(status, error_code)
end;
