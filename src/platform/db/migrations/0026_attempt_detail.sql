-- Why an attempt failed, in a sentence for the owner of the webhook URL.

alter table attempt add column error_detail text;
