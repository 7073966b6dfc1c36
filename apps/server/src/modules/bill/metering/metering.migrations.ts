import { billingZone } from '@zhisuan/contract/bill/meter'
import { migration, type Migrations } from '../../../platform/db/database.ts'

export const meteringMigrations: Migrations = {
  '20261123_00_50_metering': migration(`
    -- What a resource uses from a moment on, all of it: so the same events in any order, late or
    -- twice, say the same.
    create sequence usage_revision;
    create table usage_events (
      id uuid primary key,
      resource_type text not null,
      resource_id uuid not null,
      resource_name text not null,
      bp_id uuid not null,
      project_id uuid,
      at timestamptz not null,
      -- Which of two of one moment is the later.
      revision bigint not null default nextval('usage_revision'),
      -- { "meter" or "meter/variant": quantity }; empty: nothing any more.
      usage jsonb not null,
      settled boolean not null default false
    );
    create index usage_events_resource on usage_events (resource_id, at, revision);
    create index usage_events_waiting on usage_events (resource_id) where not settled;

    create function usage_events_only_settle() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' or (to_jsonb(new) - 'settled') <> (to_jsonb(old) - 'settled') then
        raise exception 'usage events are append-only';
      end if;
      return new;
    end $$;
    create trigger usage_events_only_settle before update or delete on usage_events
      for each row execute function usage_events_only_settle();

    -- For triggers of whoever keeps resources. What belongs to no organisation has nobody to pay.
    create function record_usage(kind text, resource uuid, named text, bp uuid, project uuid, used jsonb) returns void language sql as $$
      insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, project_id, at, usage)
      select gen_random_uuid(), kind, resource, named, bp, project, clock_timestamp(), used where bp is not null;
    $$;
    -- For whoever learns later than it happened what is used, and knows since when.
    create function record_usage(kind text, resource uuid, named text, bp uuid, project uuid, used jsonb, moment timestamptz) returns void language sql as $$
      insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, project_id, at, usage)
      select gen_random_uuid(), kind, resource, named, bp, project, moment, used where bp is not null;
    $$;

    create table metered_resources (
      id uuid primary key,
      type text not null,
      name text not null,
      bp_id uuid not null,
      -- Everything before has its lines.
      rated_until timestamptz not null,
      -- No line of the resource begins at or after this.
      lines_until timestamptz not null default '-infinity',
      -- There is nothing to rate from then on; null: it goes on.
      rate_to timestamptz
    );
    create index metered_resources_waiting on metered_resources (rated_until) where rate_to is null or rated_until < rate_to;

    -- Derived from the events: of one meter of a resource none overlap, and neighbours differ.
    create table usage_intervals (
      resource_id uuid not null references metered_resources,
      meter text not null,
      variant text not null,
      bp_id uuid not null,
      project_id uuid,
      quantity bigint not null check (quantity > 0),
      "from" timestamptz not null,
      "to" timestamptz check ("to" > "from"),
      primary key (resource_id, meter, variant, "from")
    );
    -- What is used now, by what prices are for.
    create index usage_intervals_open on usage_intervals (meter, variant) where "to" is null;
    -- What goes on, and what ended a moment ago: for forecasts.
    create index usage_intervals_ends on usage_intervals (bp_id, "to");

    create table usage_lines (
      id bigint generated always as identity primary key,
      resource_id uuid not null,
      bp_id uuid not null,
      project_id uuid,
      product_id uuid not null,
      sku_id uuid not null,
      price_id uuid not null,
      discount_id uuid,
      "from" timestamptz not null,
      quantity bigint not null,
      seconds smallint not null check (seconds between 1 and 3600),
      -- Ten-thousandths.
      fraction smallint not null,
      meter text not null,
      variant text not null,
      amount numeric(38, 0) not null check (amount >= 0),
      -- Set where usage turned out to be otherwise: another line stands for it, or none.
      voided_at timestamptz
    );
    create unique index usage_lines_once on usage_lines (resource_id, "from", meter, variant) where voided_at is null;
    create index usage_lines_newest on usage_lines (bp_id, "from", id) where voided_at is null;

    create function usage_lines_only_void() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' or old.voided_at is not null or (to_jsonb(new) - 'voided_at') <> (to_jsonb(old) - 'voided_at') then
        raise exception 'lines of usage are only voided';
      end if;
      return new;
    end $$;
    create trigger usage_lines_only_void before update or delete on usage_lines
      for each row execute function usage_lines_only_void();

    -- Sums of the lines that are not void.
    create table usage_sums (
      bp_id uuid not null,
      month date not null,
      dimension text not null,
      key text not null,
      amount numeric(38, 0) not null,
      primary key (bp_id, month, dimension, key)
    );
    create index usage_sums_greatest on usage_sums (bp_id, month, dimension, amount desc, key);
    create index usage_sums_of_all on usage_sums (month, dimension, bp_id);
    create index usage_sums_months on usage_sums (bp_id, month) include (amount) where dimension = 'month';

    -- By the lines themselves, so that no code can forget to; in one order, so that none wait for each other in a circle.
    create function usage_lines_add_up() returns trigger language plpgsql as $$
    begin
      insert into usage_sums as sums (bp_id, month, dimension, key, amount)
      select bp_id, date_trunc('month', day)::date, dimension, coalesce(key, ''), sum(amount)
      from (
        select bp_id, ("from" at time zone '${billingZone}')::date as day, product_id, project_id, resource_id,
          sum(case when voided_at is null then amount else -amount end) as amount
        from changed group by 1, 2, 3, 4, 5
      ) as by_all
      cross join lateral (values ('month', ''), ('day', day::text), ('product', product_id::text), ('project', project_id::text), ('resource', resource_id::text), ('dayProduct', day::text || ' ' || product_id::text)) as by_one (dimension, key)
      group by 1, 2, 3, 4
      order by 1, 2, 3, 4
      on conflict (bp_id, month, dimension, key) do update set amount = sums.amount + excluded.amount;
      return null;
    end $$;
    create trigger usage_lines_added after insert on usage_lines
      referencing new table as changed for each statement execute function usage_lines_add_up();
    create trigger usage_lines_voided after update on usage_lines
      referencing new table as changed for each statement execute function usage_lines_add_up();

    -- What of each month's usage is in the ledger.
    create table usage_postings (
      bp_id uuid not null,
      month date not null,
      amount numeric(38, 0) not null,
      primary key (bp_id, month)
    );
  `),
  '20261128_21_usage_posted_by_day': migration(`
    -- Of days that were posted by the month: each as it was rated, and what that does not come to with the last of them.
    create temporary table posted_by_month on commit drop as select * from usage_postings;
    drop table usage_postings;
    create table usage_postings (
      bp_id uuid not null,
      day date not null,
      amount numeric(38, 0) not null,
      primary key (bp_id, day)
    );
    insert into usage_postings (bp_id, day, amount) select bp_id, key::date, amount from usage_sums where dimension = 'day';
    insert into usage_postings as days (bp_id, day, amount)
    select bp_id, coalesce(last, month), coalesce(posted, 0) - coalesce(rated, 0)
    from (select bp_id, month, amount as posted from posted_by_month) as posted
    full join (select bp_id, month, max(key)::date as last, sum(amount) as rated from usage_sums where dimension = 'day' group by 1, 2) as rated using (bp_id, month)
    where coalesce(posted, 0) <> coalesce(rated, 0)
    on conflict (bp_id, day) do update set amount = days.amount + excluded.amount;
    create index usage_sums_days on usage_sums (bp_id, key) include (amount) where dimension = 'day';
  `),
  '20261126_90_usage_reason': migration(`
    -- Why nothing is used any more, where that is not simply so: bills tell it.
    alter table usage_events add column reason text;
    create function record_usage(kind text, resource uuid, named text, bp uuid, project uuid, used jsonb, moment timestamptz, why text) returns void language sql as $$
      insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, project_id, at, usage, reason)
      select gen_random_uuid(), kind, resource, named, bp, project, moment, used, why where bp is not null;
    $$;
  `),
  '20261128_96_usage_attributes': migration(`
    -- What has to be known of use once it is paid for, and is no price: whose machine it was. Lines keep it as it was then.
    alter table usage_events add column attributes jsonb;
    alter table usage_intervals add column attributes jsonb;
    alter table usage_lines add column attributes jsonb;
    create index usage_lines_provider on usage_lines ((attributes ->> 'provider_id'), "from") where attributes is not null and voided_at is null;
  `),
  '20261201_51_usage_lines_voided': migration(`
    -- Of a provider's lines the few that are none any more: what was shared out of them is taken back.
    create index usage_lines_provider_voided on usage_lines ((attributes ->> 'provider_id')) where attributes is not null and voided_at is not null;
  `),
}
