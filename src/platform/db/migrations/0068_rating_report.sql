-- Reviews have no votes any more: what a user does about one is to report it. A decision of a platform admin deletes reports.

alter table rating drop column helpful;

delete from rating_vote where report is null;

alter table rating_vote drop column is_helpful;
alter table rating_vote alter column report set not null;
alter table rating_vote rename column report to reason;
alter table rating_vote rename to rating_report;
