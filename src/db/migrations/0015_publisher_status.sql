-- Lists and their counts read publishers by status: the active ones, and for each count of nodes the few others.

create index publisher_active on publisher (id) where status = 'PublisherStatusActive';
create index publisher_banned on publisher (id) where status <> 'PublisherStatusActive';
