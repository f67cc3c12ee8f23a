-- Filters that pages of searches and of moderation have besides, and the files of archives.
-- earlier: 4662577cc9f5b9efd4208f660d8e3d44be9db7cfe532abdc9b7274bda652c9e9

-- step alone
create index concurrently node_tags on node using gin (lower_all(tags)) with (fastupdate = off);

-- step alone
create index concurrently node_banned on node (id) where status = 'NodeStatusBanned';

-- step
-- of one that was found to be sound: path, bytes and digest of each file, and where its packed data lies
alter table archive add column files json;
