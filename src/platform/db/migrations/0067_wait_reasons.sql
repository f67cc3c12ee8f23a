-- The reasons why a task waits come from a function. A statement opens the tables of its subqueries whether or not a task waits;
-- a function opens them only when it is called.

create function is_alive(w worker) returns boolean language sql
return w.ended_at is null and w.beat_at > clock_timestamp() - interval '30 seconds';

-- Reasons of an open task: of admission, of machines that do not take it (`machines`), or of a queue that nobody serves; null of
-- one that does not wait. `waitsFor` of task-file.ts calls it; waits-for.ts makes sentences for callers of them. Columns are given
-- one by one: a whole row would bring its payload.
create function wait_reasons(id uuid, engine text, family text, kind text, owner text, waits_on text, machines text[],
  claimed_at timestamptz, last_moved_at timestamptz) returns text[] language plpgsql stable as $$
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
  ) then
    return array['Temporal has not taken it.'];
  end if;
  return array['All workers are busy.'];
end
$$;
