-- What the tasks of each owner have used, by the UTC day of their end.

create table usage (
  owner text not null,
  -- a label that the tasks have; both are empty in the row of all of them
  key text not null,
  value text not null,
  day date not null,
  kind text not null,
  done integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  -- charged and not given back
  credits bigint not null default 0,
  -- of all attempts at rendering
  engine_ms bigint not null default 0,
  -- of the results: of a video those of all frames
  pixels bigint not null default 0,
  -- of inputs, results and payload at the end
  bytes bigint not null default 0,
  -- tasks by how long they waited and ran, see usage_bucket; the last ones by place 0, which have not begun
  waited integer[] not null default '{}',
  ran integer[] not null default '{}',
  primary key (owner, key, value, day, kind)
);

-- of all owners
create index usage_by_key on usage (key, day);

-- Place of a duration: 1 below 0.1 s, and each place takes what is up to 1.41 times as long as that before it. 44 takes
-- all from two days on. `usageSeconds` of domain/task/usage.ts has the ends of the places.
create function usage_bucket(seconds float8) returns integer
language sql immutable strict parallel safe
return case
  when seconds < 0.1 then 1
  else least(44, 2 + floor(2 * ln(seconds * 10) / ln(2::float8)))::integer
end;

-- Counts a task whose end was committed with this transaction. It runs at the commit, so that the results are there and
-- the rows, which all ends of an owner need, are locked for as short as can be.
create function count_usage() returns trigger language plpgsql as $$
declare
  begun timestamptz := new.claimed_at;
  waited_in integer := usage_bucket(extract(epoch from coalesce(begun, new.ended_at) - new.created_at));
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
    from jsonb_array_elements(new.tries) with ordinality as tries (attempt, n)
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

-- step alone
-- `transitionTask` makes the update; src/db/task/usage.ts reads the table.
create constraint trigger task_used after update on task
deferrable initially deferred
for each row when (old.ended_at is null and new.ended_at is not null)
execute function count_usage();
