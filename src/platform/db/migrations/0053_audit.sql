-- The audit log has what owners, members and holders of keys change, too: from where, and by which credential.

-- address of the client; null for an operator's command, and before this
alter table audit_log add column address text;
-- `jwt`, `session`, or a kind and id: `api_key/<id>`, `personal_access_token/<id>`
alter table audit_log add column credential text;

create index audit_log_by_address on audit_log (address, at desc) where address is not null;
create index audit_log_by_action on audit_log (action, at desc);
