-- Owners read what a decision on a review was, and by which findings; trust may come before its node.
alter table review_request
  -- status and reason of the version when a decision closed it; null before this release, too
  add column decided_status text,
  add column decided_reason text;

-- step
-- The first fifty findings of a version, the worst first, without the lines of code: the route of findings has all.
create function first_findings(of_version uuid) returns jsonb
language sql stable
return (
  select coalesce(jsonb_agg(jsonb_strip_nulls(to_jsonb(f))), '[]')
  from (
    select issue_type, severity, file_path, line_number, message
    from finding where version_id = of_version
    order by severity <> 'high', severity <> 'medium', scanner, position
    limit 50
  ) f
);

-- As in 0069, with the findings of whatever is withheld, and the channel.
create or replace function record_version_event(type text, of_version uuid, more jsonb) returns void language plpgsql as $$
begin
  perform record_publisher_event(n.publisher_id, type, v.id, jsonb_build_object('node_id', v.node_id,
    'version_id', v.id, 'version', v.version, 'channel', case when v.pre_key = '~' then 'latest' else 'pre' end,
    'status', v.status, 'status_reason', v.status_reason,
    'findings', case when type in ('version.flagged', 'version.banned', 'review.decided')
      and v.status in ('NodeVersionStatusFlagged', 'NodeVersionStatusBanned') then first_findings(v.id) end) || more)
  from version v
  join node n on n.id = v.node_id
  where v.id = of_version and exists (
    select from endpoint p
    where p.publisher_id = n.publisher_id and p.status = 'enabled' and type = any(p.events)
  );
end
$$;

-- step
-- Trust and its tokens may be for a node to come, by its id in small letters: `isOfNode` reads both spellings. Nodes are
-- never removed, so the keys guarded inserts alone.
alter table trusted_publisher drop constraint trusted_publisher_node_id_fkey;

-- step
alter table personal_access_token drop constraint personal_access_token_node_id_fkey;
