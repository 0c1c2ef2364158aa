import FieldpackCore
import FieldpackSQL

extension SQLOutput {
  /// Statement, plan, rows and time, for people.
  static func text(_ explanation: SQLExplanation, width: Int) -> String {
    var lines = ["SQL"]
    lines += TextWrap.lines(DisplayText.visible(explanation.sql), width: max(40, width - 2))
      .map { "  " + $0 }
    lines.append("plan")
    lines += explanation.plan.map { "  " + DisplayText.visible($0) }
    lines += ["rows", "  " + RowFigures.text(explanation.rows, explanation.duration)]
    return lines.map { $0 + "\n" }.joined()
  }

  static func document(_ explanation: SQLExplanation) -> JSONValue {
    [
      "sql": .text(explanation.sql), "plan": JSONValue(explanation.plan),
      "row_count": JSONValue(explanation.rows),
      "duration_ms": JSONValue(explanation.duration),
      "notes": JSONValue(explanation.notes),
    ]
  }
}

/// How many rows came in what time.
enum RowFigures {
  /// `3 rows in 0.41 ms`.
  static func text(_ rows: Int, _ duration: Duration) -> String {
    "\(rows.counting("row")) in \(Decimals.text(duration.milliseconds, digits: 2)) ms"
  }
}
