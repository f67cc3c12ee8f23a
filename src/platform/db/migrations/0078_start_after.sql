-- A task that its request wants started later waits for that time in its row, and then for its turn.
alter table task add column start_after timestamptz;

-- step alone
create index concurrently task_later on task (start_after) where waits_on = 'later' and ended_at is null;

-- step
create or replace function task_block(t task) returns text language plpgsql stable as $$
declare
  found_scope text;
  scopes text[] := task_scopes(t.engine, t.family, t.kind, t.owner);
begin
  if t.start_after > clock_timestamp() then return 'later'; end if;
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

create or replace function blocks(waits_on text) returns boolean language plpgsql stable as $$
begin
  return case
    when waits_on like 'pause:%' then exists (
      select from pause p where p.scope = substr(waits_on, 7)
        and coalesce(p.until > clock_timestamp(), true))
    when waits_on like 'breaker:%' then exists (
      select from breaker b where b.scope = substr(waits_on, 9) and b.opened_at is not null)
    else waits_on in ('slot', 'later') or waits_on like 'template:%'
  end;
end
$$;

create or replace function wait_reasons(id uuid, engine text, family text, kind text, owner text, waits_on text, machines text[], claimed_at timestamp with time zone, last_moved_at timestamp with time zone) returns text[] language plpgsql stable as $$
declare
  is_admitted boolean := waits_on is null or waits_on like 'template:%';
  reasons text[];
begin
  if waits_on like 'breaker:%' and blocks(waits_on) then
    return (
      select array_remove(array['Its engine does not work.',
        'It is tried again at ' || to_char(max(retry_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '.'], null)
      from breaker b where 'breaker:' || b.scope = waits_on and b.opened_at is not null
    );
  end if;
  if waits_on = 'later' then
    return (
      select array['It starts later.', 'It starts at ' || to_char(t.start_after at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '.']
      from task t where t.id = wait_reasons.id
    );
  end if;
  if is_admitted and (claimed_at is not null or machines is not null) then
    return machines;
  end if;
  -- The pause that ends last, until when and why; but of an owner's no more than that, which admins alone read.
  select case when scope like 'owner:%' then array['It is paused.'] else array_remove(array['It is paused.',
    'The pause ends at ' || to_char(until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '.', 'Reason: ' || reason], null) end
  into reasons
  from pause where scope = any(task_scopes(engine, family, kind, owner)) and coalesce(until > clock_timestamp(), true)
  order by until desc nulls first
  limit 1;
  if reasons is not null then
    return reasons;
  elsif not is_admitted then
    -- Of a video that nothing blocks any more a slot is what it waits for.
    return array[case
      when waits_on !~ '^(pause|breaker):' and waits_on <> 'turn' then waits_on
      when family = 'video' then 'slot'
      else 'turn' end];
  -- An admitted task that nobody has claimed for so long says why.
  elsif last_moved_at > now() - interval '10 seconds' then
    return null;
  elsif not exists (select from worker w where w.slots ? engine and is_alive(w)) then
    return array['No worker serves its engine.'];
  elsif exists (
    select from outbox o where o.workflow_id = family || '-task/' || wait_reasons.id and o.kind <> 'signal' and o.dispatched_at is null
      -- a start that was just enqueued is on its way
      and o.created_at < now() - interval '10 seconds'
  ) then
    return array['Temporal has not taken it.'];
  end if;
  return array['All workers are busy.'];
end
$$;

-- A task has waited from the time that it may start.
create or replace function count_usage() returns trigger language plpgsql as $$
declare
  begun timestamptz := new.claimed_at;
  waited_in integer := usage_bucket(extract(epoch from coalesce(begun, new.ended_at) - greatest(new.created_at, new.start_after)));
  ran_in integer := coalesce(usage_bucket(extract(epoch from new.ended_at - begun)), 0);
  state text := task_state(new.status, new.error_code);
  used_ms bigint;
  made bigint;
  kept bigint;
begin
  select coalesce(sum(greatest(0, extract(epoch from ends - at) * 1000)), 0) into used_ms
  from (
    select (attempt->>'at')::timestamptz as at, coalesce((attempt->>'failed_at')::timestamptz,
      lead((attempt->>'at')::timestamptz) over (order by n), new.ended_at) as ends
    from jsonb_array_elements(new.attempts) with ordinality as list (attempt, n)
  ) attempts;
  select coalesce(
    (select sum(width::bigint * height * round(seconds * fps)) from creation where task_id = new.id),
    (select sum(width::bigint * height) from task_result where task_id = new.id), 0) into made;
  select stored_bytes into kept from task where id = new.id;
  insert into usage as u (owner, key, value, day, kind, done, failed, cancelled, credits, engine_ms,
    pixels, bytes, waited, ran)
  select new.owner, label.key, label.value, (new.ended_at at time zone 'UTC')::date, new.kind,
    (state = 'done')::integer, (state = 'failed')::integer, (state = 'cancelled')::integer,
    case when new.status = 'failed' then 0 else new.credits end, used_ms, made, coalesce(kept, 0),
    array_fill(1, array[1], array[waited_in]), array_fill(1, array[1], array[ran_in])
  from (
    select '' as key, '' as value
    union all
    -- the owner stands under the empty name
    select key, value from jsonb_each_text(new.labels - '')
  ) label
  -- in one order, so that two commits never wait for each other
  order by label.key, label.value
  on conflict (owner, key, value, day, kind) do update set
    done = u.done + excluded.done,
    failed = u.failed + excluded.failed,
    cancelled = u.cancelled + excluded.cancelled,
    credits = u.credits + excluded.credits,
    engine_ms = u.engine_ms + excluded.engine_ms,
    pixels = u.pixels + excluded.pixels,
    bytes = u.bytes + excluded.bytes,
    waited[waited_in] = coalesce(u.waited[waited_in], 0) + 1,
    ran[ran_in] = coalesce(u.ran[ran_in], 0) + 1;
  return null;
end
$$;
