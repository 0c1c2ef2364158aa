extension HelpTopic {
  static let cql2 = HelpTopic(
    name: "cql2", abstract: "Conditions of --where, in OGC's Common Query Language.",
    article: "CQL2",
    markdown: #"""
      ```
      CASEI(name) LIKE CASEI('alt%') AND T_DURING(drilled, INTERVAL('1990-01-01', '..'))
      ```

      | Class | What it brings |
      | --- | --- |
      | `cql2-text`, `cql2-json` | the two encodings |
      | `basic-cql2` | `AND OR NOT`, `= <> < <= > >=`, `IS NULL` |
      | `advanced-comparison-operators` | `LIKE`, `BETWEEN`, `IN` |
      | `case-insensitive-comparison` | `CASEI` |
      | `accent-insensitive-comparison` | `ACCENTI` |
      | `basic-spatial-functions` | `S_INTERSECTS` with a point or a box |
      | `basic-spatial-functions-plus` | `S_INTERSECTS` with any geometry |
      | `spatial-functions` | the other seven relations |
      | `temporal-functions` | `T_AFTER` and its fourteen kin |
      | `array-functions` | `A_CONTAINS A_CONTAINEDBY A_EQUALS A_OVERLAPS` |
      | `property-property` | columns and literals on either side |
      | `arithmetic` | `+ - * / % DIV ^` |

      The class `functions` is for functions that a program brings itself. Fieldpack has four, on geometries:
      `S_COVERS(a, b)`, `S_COVEREDBY(a, b)`, `S_RELATE(a, b, 'T*F**F***')` with a DE-9IM pattern, and
      `S_DWITHIN(a, b, 100)` with metres along the ellipsoid, or with a fourth argument `'planar'` units of
      the layer's reference system. In the last two one of `a` and `b` is the geometry column.

      ### Values

      - Numbers compare by value, an integer with a real exactly. `TRUE` is 1 and `FALSE` 0. NaN is NULL.
      - Texts compare by code point. `LIKE` knows `%` any run, `_` one character, `\` takes the next as it
        is; it tells capitals from small letters, and é from e.
      - Values of different classes do not compare: the answer is NULL, as for NULL itself.
      - A comparison with a date, an instant, or a column declared DATE or DATETIME is temporal: texts
        that name a moment count as it, a date as its midnight in UTC.
      - A parenthesis may hold a condition where a value is wanted: `(visits > 3) = active`.

      ### Arithmetic

      Operands that are no numbers give NULL, and so do a division by zero and what is no number.

      | Operation | Result |
      | --- | --- |
      | `a + b`, `a - b`, `a * b` | of integers an integer; a real where that overflows |
      | `a / b` | always a real: `7 / 2` is 3.5 |
      | `a DIV b` | divided towards zero: `-7 DIV 2` is -3 |
      | `a % b` | what is left of that, with the sign of `a` |
      | `a ^ b` | always a real; `2 ^ 3 ^ 2` is `2 ^ (3 ^ 2)` |

      A sign binds tighter than `^`, so `-2 ^ 2` is 4. `-a` is `-1 * a`.

      ### Time

      `DATE('2020-01-31')` is a day, `TIMESTAMP('2020-01-31T12:00:00Z')` a moment, cut to the millisecond,
      and `INTERVAL(start, end)` takes a date or a time in quotes, `'..'` for an end left open, or a column.
      In temporal functions a date is a whole day in UTC. Two dates are compared by the day; a date and a
      moment by the first millisecond of the day where it begins something and by its last where it ends
      something. So `T_INTERSECTS(seen, DATE('2020-01-31'))` finds what was seen at any time of that day,
      and `INTERVAL('2020-01-01', '2020-01-31')` includes its last day.

      With `a` and `b` from start to end, both included:

      | Function | True where |
      | --- | --- |
      | `T_AFTER(a, b)`, `T_BEFORE(a, b)` | `a` starts after `b` ends; ends before it starts |
      | `T_DISJOINT`, `T_INTERSECTS` | they share no moment; share one |
      | `T_EQUALS` | both starts and both ends are the same |
      | `T_DURING`, `T_CONTAINS` | `a` starts later and ends earlier; the other way round |
      | `T_STARTS`, `T_STARTEDBY` | the starts are the same and `a` ends earlier; later |
      | `T_FINISHES`, `T_FINISHEDBY` | the ends are the same and `a` starts later; earlier |
      | `T_MEETS`, `T_METBY` | `a` ends where `b` starts; starts where it ends |
      | `T_OVERLAPS`, `T_OVERLAPPEDBY` | `a` starts first and ends within `b`; starts within `b` and ends last |

      A bound that is NULL or no moment, and an interval that ends before it starts, answers NULL.

      ### Arrays

      An array is a list in parentheses, `('a', 'b')`, or a column whose text is a JSON array, as imported
      GeoJSON has them. Both sides are sets: order and repetition count for nothing, and `()` is the empty
      set. Elements compare as values do; `null` equals `null`, arrays in arrays are compared in order,
      objects by their members. In JSON `{"date": …}` and `{"timestamp": …}` are moments. A column in a
      list that is NULL, and a text that is no JSON array, answers NULL.

      ### Geometries

      Literals are longitude and latitude: WKT in CQL2 Text, GeoJSON in CQL2 JSON, or a box. A box with
      west beyond east crosses the antimeridian; heights in a box of six numbers count for nothing, as
      relations are planar. Every layer's geometry column answers to `geometry`, unless an attribute is
      called so; another name has to be its own. NULL and empty geometries answer NULL in every relation.
      """#)
}
