package import FieldpackCore

/// Operands bound to a schema, which are computed for one row after another by the rules of
/// ``FilterEvaluator``.
package struct OperandEvaluator: Sendable {
  private let terms: [Term]
  private let evaluator: FilterEvaluator

  /// - Throws: `.notFound` for a column that the schema lacks.
  package init(_ operands: [Operand], schema: Schema) throws(FieldpackError) {
    let binder = FilterBinder(schema: schema)
    var terms: [Term] = []
    for operand in operands { terms.append(try binder.term(operand)) }
    self.terms = terms
    evaluator = try FilterEvaluator(.all, schema: schema)
  }

  /// The values of the operands for a row.
  package func values(
    of row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> [Value] {
    var values: [Value] = []
    for term in terms { values.append(try evaluator.scalar(term, row).scalar.value) }
    return values
  }
}
