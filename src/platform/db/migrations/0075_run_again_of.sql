-- A task that an operation has made again names the one before. No foreign key: it outlives that one's row.
alter table task add column run_again_of uuid;
