-- What pages of host nodes show besides: the name that the host displays, and of a version how many there are.
-- earlier: 37618d0f870640bd87ce9c61220a5ec204f763912d8ce17bd95cc6ad45f48955

alter table host_node add column display_name text;

-- step
-- null unless they were read
alter table version
  add column host_node_count integer,
  -- whether some may be missing
  add column host_node_partial boolean;

-- step alone
do $$
declare
  last uuid := '00000000-0000-0000-0000-000000000000';
  versions uuid[];
begin
  loop
    versions := array(select id from version where id > last order by id limit 200);
    exit when cardinality(versions) = 0;
    update version v
    set host_node_count = (select count(*) from host_node h where h.version_id = v.id),
      host_node_partial = v.extract_source = 'derived' and coalesce((
        select e.partial from extraction e join archive a on a.sha256 = e.sha256
        where e.version_id = v.id and a.version_id = v.id
        order by e.extractor_version desc limit 1), false),
      rev = rev + 1
    where v.id = any(versions) and host_node_extract_status = 'success' and host_node_count is null;
    last := versions[cardinality(versions)];
    commit;
  end loop;
end $$;
