-- Filters that pages of searches and of moderation have besides.

create index node_tags on node using gin (lower_all(tags)) with (fastupdate = off);
create index node_banned on node (id) where status = 'NodeStatusBanned';
