-- What pages of host nodes show besides: the name that the host displays, and of a version how many there are.

alter table host_node add column display_name text;

-- null unless they were read
alter table version
  add column host_node_count integer,
  -- whether some may be missing
  add column host_node_partial boolean;

update version v
set host_node_count = (select count(*) from host_node h where h.version_id = v.id),
  host_node_partial = v.extract_source = 'derived' and coalesce((
    select e.partial from extraction e join archive a on a.sha256 = e.sha256
    where e.version_id = v.id and a.version_id = v.id
    order by e.extractor_version desc limit 1), false),
  rev = rev + 1
where host_node_extract_status = 'success';
