-- The API key that a task was made with; null: a bearer token, nobody's credential, or a release before this one.
alter table task add column api_key_id uuid;

-- As 0086 has it, and under the name `:key`, which no label has, by API key.
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
      case when lead(n) over (order by n) is null then new.ended_at end) as ends
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
    select ':key', new.api_key_id::text where new.api_key_id is not null
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
