-- Orders that GET /nodes has besides those of creation and of ranking.
-- earlier: 4194420c90ce998b812b784c98c1288a3ed5b18ac84cf31ead497e4640e3fa9e

-- step alone
create index concurrently node_stats_downloads on node_stats (downloads, node_id) where listed;

-- step alone
create index concurrently node_by_name on node (name_lower, id);
