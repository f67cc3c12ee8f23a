-- Orders that GET /nodes has besides those of creation and of ranking.

create index node_stats_downloads on node_stats (downloads, node_id) where listed;
create index node_by_name on node (name_lower, id);
