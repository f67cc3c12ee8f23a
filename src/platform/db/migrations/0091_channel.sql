-- The latest version is a pre-release only where no release is active, deprecated or not (`newestFirst`). An api of the
-- release before orders by deprecation first until it ends; the next change of a node that it has changed corrects that.

-- step alone
create index concurrently version_by_channel on version
  (node_id, (pre_key <> '~'), deprecated, major desc, minor desc, patch desc, pre_key desc)
  where status = 'NodeVersionStatusActive';

-- step alone
-- Its place is taken; the old order is a sort of the few versions of one node.
drop index concurrently if exists version_latest;

-- step alone
-- Nodes whose latest version is a pre-release beside an active release; only they are locked, a few at a time. As
-- `updateLatestVersion` and `updateCurrentHostNodes` do.
do $$
declare
  last text collate "C" := '';
  nodes text[];
  changed text[];
begin
  loop
    nodes := array(select id from node where id > last order by id limit 500);
    exit when cardinality(nodes) = 0;
    changed := array(
      select n.id from node n join version l on l.id = n.latest_version_id and l.pre_key <> '~'
      where n.id = any(nodes) and exists (
        select from version v
        where v.node_id = n.id and v.status = 'NodeVersionStatusActive' and v.pre_key = '~')
      order by n.id for no key update of n);
    if cardinality(changed) > 0 then
      update node n
      set latest_version_id = (
          select id from version
          where node_id = n.id and status = 'NodeVersionStatusActive'
          order by (pre_key <> '~'), deprecated, major desc, minor desc, patch desc, pre_key desc
          limit 1
        ),
        updated_at = greatest(clock_timestamp(), n.updated_at), rev = n.rev + 1
      where n.id = any(changed);
      with latest as (
        select n.id as node_id, h.host_node_name as name, h.display_name
        from node n
        join version v on v.id = n.latest_version_id and v.host_node_extract_status = 'success'
        join host_node h on h.version_id = v.id
        left join node_host_policy y on y.node_id = n.id and y.host_node_name = h.host_node_name
        where n.id = any(changed) and y.policy is distinct from 'HostNodePolicyBanned'
      ), gone as (
        delete from current_host_node c
        where node_id = any(changed)
          and not exists (select from latest l where l.node_id = c.node_id and l.name = c.name)
      )
      insert into current_host_node as c (node_id, name, display_name)
      select node_id, name, display_name from latest
      on conflict (node_id, name) do update set display_name = excluded.display_name
      where c.display_name is distinct from excluded.display_name;
      -- As `recordListChange`: what apis have counted holds no more.
      update listed_count set changes = changes + 1 where slot = 0;
    end if;
    last := nodes[cardinality(nodes)];
    commit;
  end loop;
end $$;
