-- The names of a node's host nodes in one text, in lower case and apart by U+0001: a search looks at one narrow row for
-- each node and not at one for each name. Triggers keep it, so that an api of the release before does so, too.
-- earlier: d8df29aad8a0a66a4dd037972cb36aea438f0d056ba708a6a60f89d8b9b264ea
-- earlier: 5d397bc0c36a5f516f8b846fab347442e156913415e0deb17bb7592b2bf91b27
create table node_host_names (
  node_id text collate "C" primary key references node (id),
  names text not null
);

create function settle_host_names() returns trigger
language plpgsql
as $$
begin
  insert into node_host_names (node_id, names)
  select node_id, string_agg(lower(name collate "default"), E'\x01' order by name)
  from current_host_node
  where node_id in (select node_id from changed)
  group by node_id
  on conflict (node_id) do update set names = excluded.names;
  delete from node_host_names h
  where node_id in (select node_id from changed)
    and not exists (select from current_host_node c where c.node_id = h.node_id);
  return null;
end
$$;

-- `settleCurrentHostNodes` writes the rows; searches read the text.
create trigger current_host_node_inserted after insert on current_host_node
  referencing new table as changed for each statement execute function settle_host_names();
create trigger current_host_node_deleted after delete on current_host_node
  referencing old table as changed for each statement execute function settle_host_names();

create index node_host_names_part on node_host_names
  using gin (names gin_trgm_ops) with (fastupdate = off);

-- step alone
-- Those that were there before, of a few nodes at a time: whoever writes the names of a node has its lock, too.
do $$
declare
  last text collate "C" := '';
  nodes text[];
begin
  loop
    nodes := array(select id from node where id > last order by id limit 100 for no key update);
    exit when cardinality(nodes) = 0;
    insert into node_host_names (node_id, names)
    select node_id, string_agg(lower(name collate "default"), E'\x01' order by name)
    from current_host_node
    where node_id = any(nodes)
    group by node_id
    on conflict (node_id) do nothing;
    last := nodes[cardinality(nodes)];
    commit;
  end loop;
end $$;

-- The few nodes that a count leaves out.
-- step alone
create index concurrently node_stats_unlisted on node_stats (node_id) where not listed;
