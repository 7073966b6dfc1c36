import { billingZone } from '@zhisuan/contract/bill/meter'
import { migration, type Migrations } from '../../../platform/db/database.ts'

export const consumeMigrations: Migrations = {
  '20261122_86_usage_by_day_and_product': migration(`
    -- As before, with what of each day is whose.
    create or replace function usage_lines_add_up() returns trigger language plpgsql as $$
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
    insert into usage_sums (bp_id, month, dimension, key, amount)
    select bp_id, date_trunc('month', day)::date, 'dayProduct', day::text || ' ' || product_id::text, sum(amount)
    from (select bp_id, ("from" at time zone '${billingZone}')::date as day, product_id, amount from usage_lines where voided_at is null) as line
    group by 1, 2, 4;

    -- What goes on, and what ended a moment ago: for forecasts.
    create index usage_intervals_ends on usage_intervals (bp_id, "to");
  `),
}
