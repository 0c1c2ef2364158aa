// A form for the attributes of a feature, made of the schema of its layer.

import { element, text } from './dom.js';

/** Whether a column can be typed in. */
const isEditable = column => !column.readOnly && !column.contentEncoding;

/** A field for each column. */
export function fieldsFor(schema, properties) {
  return schema.columns.filter(isEditable).map(column => {
    const name = column.title ?? column.name;
    const isRequired = schema.required.has(column.name);
    const field = control(column, properties[column.name], isRequired);
    // A field may show less than the value, such as a text without its line breaks.
    field.initial = field.value;
    return element('label', { title: column.description }, name + (isRequired ? ' *' : ''), field);
  });
}

function control(column, value, required) {
  const common = { name: column.name, required: required && column.type !== 'string' };
  if (column.enum || column.type === 'boolean') {
    const values = column.enum ?? [true, false];
    // A value that the rule does not know stays until it is changed.
    const known = value === null || value === undefined || values.includes(value)
      ? values : [value, ...values];
    return element('select', common,
      element('option', { value: '' }, ''),
      ...known.map(one => element(
        'option', { value: JSON.stringify(one), selected: one === value }, text(one))));
  }
  if (Array.isArray(column.type)) {
    return area(common, value === undefined || value === null ? '' : JSON.stringify(value, null, 1));
  }
  if (column.type === 'integer' || column.type === 'number') {
    return element('input', {
      ...common, type: 'number', step: column.type === 'integer' ? 1 : 'any',
      min: column.minimum, max: column.maximum, value: String(value ?? ''),
    });
  }
  if (column.format === 'date') {
    return element('input', { ...common, type: 'date', value: text(value) });
  }
  if (column.format === 'date-time') {
    return element('input', { ...common, placeholder: '2026-05-01T12:00:00Z', value: text(value) });
  }
  const limited = { ...common, maxlength: column.maxLength };
  const shown = text(value);
  if (shown.length > 60 || /[\r\n]/.test(shown)) return area(limited, shown);
  return element('input', { ...limited, value: shown });
}

function area(properties, value) {
  const field = element('textarea', { rows: 4, ...properties });
  field.value = value;
  return field;
}

/**
 * The values that differ from those of `properties`.
 *
 * @throws what is wrong with a value, as a text for the user
 */
export function changesIn(form, schema, properties) {
  const changes = {};
  for (const column of schema.columns.filter(isEditable)) {
    const field = form.elements.namedItem(column.name);
    if (field.value === field.initial && !field.validity?.badInput) continue;
    const before = properties[column.name] ?? null;
    const value = valueOf(field, column, before);
    if (JSON.stringify(value) !== JSON.stringify(before)) changes[column.name] = value;
  }
  return changes;
}

function valueOf(field, column, before) {
  const typed = field.value;
  if (field.validity?.badInput) throw new Error(`${column.name}: that is no number.`);
  // An empty text that was there stays one; elsewhere nothing typed is no value.
  if (typed === '') return before === '' ? '' : null;
  if (field.tagName === 'SELECT') return JSON.parse(typed);
  if (Array.isArray(column.type)) {
    try { return JSON.parse(typed); } catch { throw new Error(`${column.name}: that is no JSON.`); }
  }
  if (column.type === 'integer' || column.type === 'number') return Number(typed);
  if (column.format === 'date-time' && typed !== before) {
    const time = new Date(typed);
    if (Number.isNaN(time.getTime())) throw new Error(`${column.name}: that is no time.`);
    return time.toISOString();
  }
  return typed;
}
