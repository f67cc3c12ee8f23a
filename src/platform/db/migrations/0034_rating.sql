-- What users say of nodes. (`review_request` is another thing: it asks for a person to look at a flagged version.)

create table rating (
  id uuid primary key default gen_random_uuid(),
  node_id text collate "C" not null references node (id),
  -- of app_user, whose rows stay
  user_id text collate "C" not null,
  stars integer not null check (stars between 1 and 5),
  text text,
  version text,
  -- only what is visible counts; `waiting` for `counts_at`, `hidden` by a platform admin
  state text not null check (state in ('visible', 'waiting', 'hidden')),
  counts_at timestamptz not null,
  hidden_reason text,
  created_at timestamptz not null default clock_timestamp(),
  edited_at timestamptz,
  -- A hidden one leaves its row, or its author would lift the decision by writing it again.
  withdrawn_at timestamptz,
  reply text,
  replied_at timestamptz,
  helpful integer not null default 0,
  reports integer not null default 0,
  unique (node_id, user_id),
  check (withdrawn_at is null or state = 'hidden')
);

create index rating_newest on rating (node_id, created_at desc, id);
create index rating_helpful on rating (node_id, helpful desc, created_at desc, id);
create index rating_stars on rating (node_id, stars, state);
create index rating_waiting on rating (counts_at) where state = 'waiting';
create index rating_reported on rating (reports desc, id) where reports > 0;

-- What a user did about a review. A decision of a platform admin closes the reports.
create table rating_vote (
  rating_id uuid not null references rating (id) on delete cascade,
  user_id text collate "C" not null,
  is_helpful boolean not null,
  report text,
  primary key (rating_id, user_id)
);

-- Mean of all reviews that count, renewed hourly: what a node with few of them is taken for.
create table rating_mean (
  is_only boolean primary key default true check (is_only),
  mean double precision not null
);
insert into rating_mean (mean) values (3);

-- step
alter table node_stats
  add column rating_sum bigint not null default 0,
  add column rating_count integer not null default 0,
  -- distance to the mean with five further votes there: 0 of a node without reviews, whatever the mean is
  add column rating_weight double precision not null default 0;

create function rating_weight(sum bigint, votes integer) returns double precision
language sql stable
as $$
  select (sum - votes * mean) / (votes + 5) from rating_mean where is_only
$$;

-- Counts are exact whoever changes a review. Writers hold the row of the node, so that all is one change of it.
create function count_rating() returns trigger
language plpgsql
as $$
declare
  node_key text := coalesce(new.node_id, old.node_id);
  was integer := coalesce((old.state = 'visible')::integer, 0);
  becomes integer := coalesce((new.state = 'visible')::integer, 0);
  stars integer := becomes * coalesce(new.stars, 0) - was * coalesce(old.stars, 0);
begin
  if becomes = was and stars = 0 then
    return null;
  end if;
  -- In the lock order of `registry-lock.ts`. Not `rev`: an editor's If-Match must survive the reviews of others.
  update node set updated_at = greatest(clock_timestamp(), updated_at) where id = node_key;
  update node_stats
  set rating_sum = rating_sum + stars, rating_count = rating_count + becomes - was,
    rating_weight = rating_weight(rating_sum + stars, rating_count + becomes - was)
  where node_id = node_key;
  return null;
end
$$;

-- `rating.ts` changes the reviews; `nodeJson` shows the counts.
create trigger rating_counted after insert or delete or update of stars, state on rating for each row
  execute function count_rating();

-- step alone
create index concurrently node_stats_rating on node_stats (rating_weight, node_id) where listed;

-- step alone
create index concurrently node_stats_rated on node_stats (node_id) where rating_count > 0;
