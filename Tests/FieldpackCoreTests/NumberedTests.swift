import FieldpackCore
import Testing

@Suite struct NumberedTests {
  @Test(arguments: [([], "a"), (["a"], "a_2"), (["a", "a_2", "a_4"], "a_3")])
  func `a name that is taken gets the first free number`(taken: [String], name: String) {
    #expect("a".numbered { !taken.contains($0) } == name)
  }
}
