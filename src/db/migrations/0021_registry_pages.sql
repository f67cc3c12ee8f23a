-- Filters that pages of searches and of moderation have besides, and the files of archives.

create index if not exists node_tags on node using gin (lower_all(tags)) with (fastupdate = off);
create index if not exists node_banned on node (id) where status = 'NodeStatusBanned';

-- of one that was found to be sound: path, bytes and digest of each file, and where its packed data lies
alter table archive add column files json;
