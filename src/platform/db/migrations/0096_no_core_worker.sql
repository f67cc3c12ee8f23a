-- A task goes nowhere without a core worker, whatever serves its engine: its workflow stands. `wait_reasons` and `kiln operate
-- explain` say which worker is missing by this one function; `is_alive` (0067) is also what /ready asks.
create function missing_worker(engine text) returns text language sql stable as $$
  select case
    when not exists (select from worker w where w.role = 'core' and is_alive(w)) then 'No core worker lives.'
    when not exists (select from worker w where w.slots ? missing_worker.engine and is_alive(w)) then 'No worker serves its engine.'
  end
$$;

create or replace function wait_reasons(id uuid, engine text, family text, kind text, owner text, waits_on text, machines text[], claimed_at timestamp with time zone, last_moved_at timestamp with time zone) returns text[] language plpgsql stable as $$
declare
  is_admitted boolean := waits_on is null or waits_on like 'template:%';
  reasons text[];
  missing text;
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
  end if;
  missing := missing_worker(engine);
  if missing is not null then
    return array[missing];
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
