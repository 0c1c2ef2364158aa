import FieldpackCheck
import FieldpackCore
import FieldpackGeoPackage

/// A check's report for people: findings in groups, the first few of each, in lines that fit.
struct CheckText {
  private let report: CheckReport
  private let path: String
  private let width: Int

  init(_ report: CheckReport, path: String, width: Int) {
    self.report = report
    self.path = path
    self.width = max(40, width)
  }

  var text: String {
    var text = lines("\(path): \(summary)", indent: 0)
    if !report.repairs.isEmpty {
      text += "\nmended\n"
      for repair in report.repairs {
        text += lines(repair.table.map { "\($0): \(repair.detail)" } ?? repair.detail, indent: 2)
      }
    }
    for group in report.groups { text += "\n" + self.text(of: group) }
    return text
  }

  private var summary: String {
    let version = report.version.map { "GeoPackage \($0)" } ?? "no version of GeoPackage"
    let counts = ConformanceFinding.Level.allCases.compactMap { level -> String? in
      let count = report.count(level)
      guard count > 0 else { return nil }
      return "\(count.counting(level.rawValue))"
    }
    return counts.isEmpty
      ? "\(version), nothing found" : "\(version), \(counts.joined(separator: ", "))"
  }

  private func text(of group: FindingGroup) -> String {
    let table = group.table.map { " \($0)" } ?? ""
    let isMendable = group.findings.allSatisfy(\.isMendable)
    var text = lines(
      "\(group.level.rawValue) \(group.requirement.id)\(table): \(group.requirement.title)"
        + (isMendable ? " (--repair mends this)" : ""), indent: 0)
    for finding in group.findings {
      let mark = finding.isMendable && !isMendable ? " (--repair mends this)" : ""
      text += lines(line(of: finding) + mark, indent: 2)
    }
    let more = group.count - group.findings.count
    if more > 0 { text += "  \(more) more\n" }
    return text
  }

  private func line(of finding: ConformanceFinding) -> String {
    var parts: [String] = []
    if let row = finding.row { parts.append("row \(row)") }
    if let column = finding.column { parts.append(column) }
    let start = parts.isEmpty ? "" : parts.joined(separator: ", ") + ": "
    return start + finding.reason
  }

  /// The text broken into lines, all but the first a little further in.
  private func lines(_ text: String, indent: Int) -> String {
    let visible = DisplayText.visible(text)
    let wrapped = TextWrap.lines(visible, width: width - indent - 2)
    return wrapped.enumerated().map { number, line in
      String(repeating: " ", count: number == 0 ? indent : indent + 2) + line + "\n"
    }.joined()
  }
}
