-- Stars of repositories, which a schedule fetches. `github_stars` stays the number that is shown.
alter table node
  -- what a platform admin has set; null: the number of the repository holds
  add column stars_by_admin integer,
  -- when the number came from the repository last
  add column stars_updated_at timestamptz;

-- One row for the nodes that share a repository.
create table repository_stars (
  -- as `node.repository_key`
  key text primary key,
  stars integer,
  etag text,
  -- why the last attempt brought no number
  error text,
  checked_at timestamptz,
  next_check_at timestamptz not null default clock_timestamp()
);
create index repository_stars_due on repository_stars (next_check_at);

-- step alone
-- Until now each number was an admin's.
do $$
declare
  last text := '';
  ids text[];
begin
  loop
    ids := array(select id from node where id > last order by id limit 1000);
    exit when cardinality(ids) = 0;
    update node set stars_by_admin = github_stars
    where id = any(ids) and github_stars > 0 and stars_by_admin is null;
    last := ids[cardinality(ids)];
    commit;
  end loop;
end $$;

-- step alone
create index concurrently node_by_stars on node (github_stars, id);
