-- of anonymous tasks alone: what sends to a host again is counted
-- earlier: a8b0892d3d4ffb5b58a5546b94acc427202df304da28076561549cf3794bb175
alter table redelivery add column receiver_host text;

-- step alone
create index concurrently redelivery_by_event on redelivery (event_id);

-- step alone
create index concurrently redelivery_by_host on redelivery (receiver_host, created_at) where receiver_host is not null;
