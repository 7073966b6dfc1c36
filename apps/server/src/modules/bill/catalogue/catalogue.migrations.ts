import { migration, type Migrations } from '../../../platform/db/database.ts'

export const catalogueMigrations: Migrations = {
  '20261123_00_49_price_catalogue': migration(`
    create table bill_categories (
      id uuid primary key,
      name text not null constraint bill_categories_name unique,
      description text not null,
      created_by uuid,
      created_by_name text not null default '',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create table bill_products (
      id uuid primary key,
      category_id uuid not null constraint bill_products_category references bill_categories,
      name text not null constraint bill_products_name unique,
      description text not null,
      created_by uuid,
      created_by_name text not null default '',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index bill_products_of_category on bill_products (category_id);
    create table bill_skus (
      id uuid primary key,
      product_id uuid not null references bill_products,
      name text not null,
      meter text not null,
      variant text not null,
      created_by uuid,
      created_by_name text not null default '',
      created_at timestamptz not null default now(),
      constraint bill_skus_meter unique (meter, variant)
    );
    create index bill_skus_product on bill_skus (product_id);
    create table bill_prices (
      id uuid primary key,
      number bigint generated always as identity,
      sku_id uuid not null references bill_skus,
      period text not null check (period in ('hour', 'month', 'year')),
      -- [{ "above": units, "price": "minor units" }]
      tiers jsonb not null,
      effective_from timestamptz not null,
      effective_to timestamptz check (effective_to > effective_from),
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create index bill_prices_sku on bill_prices (sku_id, period, effective_from, number);
    create table bill_discounts (
      id uuid primary key,
      name text not null,
      -- Ten-thousandths.
      fraction integer not null check (fraction between 1 and 10000),
      bp_id uuid,
      product_id uuid references bill_products,
      period text check (period in ('hour', 'month', 'year')),
      effective_from timestamptz not null,
      effective_to timestamptz check (effective_to >= effective_from),
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      ended_by uuid,
      ended_by_name text,
      ended_at timestamptz
    );
    create index bill_discounts_bp on bill_discounts (bp_id);
    create index bill_discounts_product on bill_discounts (product_id);

    -- What was priced stays priced so: a change is another row, and no row changes what is past.
    create function prices_are_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'prices are append-only: add another';
    end $$;
    create trigger prices_are_append_only before update or delete or truncate on bill_prices
      for each statement execute function prices_are_append_only();
    create function discounts_only_end() returns trigger language plpgsql as $$
    declare ending constant text[] := '{effective_to, ended_by, ended_by_name, ended_at}';
    begin
      if tg_op = 'DELETE' or old.ended_at is not null or (to_jsonb(new) - ending) <> (to_jsonb(old) - ending) then
        raise exception 'a discount only ends';
      end if;
      return new;
    end $$;
    create trigger discounts_only_end before update or delete on bill_discounts
      for each row execute function discounts_only_end();
  `),
  '20261130_21_short_periods': migration(`
    alter table bill_prices drop constraint bill_prices_period_check;
    alter table bill_prices add constraint bill_prices_period_check check (period in ('hour', 'day', 'week', 'month', 'year'));
    alter table bill_discounts drop constraint bill_discounts_period_check;
    alter table bill_discounts add constraint bill_discounts_period_check check (period in ('hour', 'day', 'week', 'month', 'year'));
  `),
}
