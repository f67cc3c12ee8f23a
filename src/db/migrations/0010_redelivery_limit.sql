-- of anonymous tasks alone: what sends to a host again is counted
alter table redelivery add column receiver_host text;

create index redelivery_by_event on redelivery (event_id);
create index redelivery_by_host on redelivery (receiver_host, created_at) where receiver_host is not null;
