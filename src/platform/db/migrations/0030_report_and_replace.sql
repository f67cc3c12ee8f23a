-- A version that nobody could have leaves its number free (`replaced`). Host nodes that a stranger reports are a hint (`reported`).

alter table version
  drop constraint version_archive_state_check,
  add constraint version_archive_state_check check (archive_state in
    ('awaiting', 'received', 'accepted', 'rejected', 'expired', 'replaced')) not valid,
  drop constraint version_host_node_extract_status_check,
  add constraint version_host_node_extract_status_check check (host_node_extract_status in
    ('pending', 'reported', 'success', 'failed')) not valid,
  add constraint version_replaced check
    (archive_state <> 'replaced' or status = 'NodeVersionStatusDeleted') not valid;

-- The user whose credential came with it; null: none, or the extraction token.
alter table host_node_report add column reported_by text collate "C";

-- step
alter table version
  validate constraint version_archive_state_check,
  validate constraint version_host_node_extract_status_check,
  validate constraint version_replaced;

-- step alone
create unique index concurrently version_number on version (node_id, canonical)
  where archive_state not in ('expired', 'replaced');

-- step alone
drop index concurrently if exists version_canonical;

-- step alone
create index concurrently version_unread on version (last_moved_at)
  where host_node_extract_status in ('pending', 'reported');

-- step alone
drop index concurrently if exists version_extracting;

-- step
-- Until now the reports of strangers counted as read. Their names leave the searches until somebody vouches for them.
with hint as (
  update version set host_node_extract_status = 'reported', rev = rev + 1
  where extract_source = 'reported' and host_node_extract_status = 'success'
  returning id
)
delete from current_host_node c using node n, hint
where n.latest_version_id = hint.id and c.node_id = n.id;

-- step
-- Reasons said file and line to everybody; the findings say them to members.
update version
set status_reason = regexp_replace(status_reason, '( \(|\. ).*$', ''), rev = rev + 1
where status_reason ~ '^\d+ findings? flags? this version; the worst: ';
