"""Equivalence of graphs: rotations, steps, territories, and the resulting classes."""

from cyclearn.classes.class_certificate import ClassCertificate as ClassCertificate
from cyclearn.classes.class_certificate import RuleStep as RuleStep
from cyclearn.classes.class_statements import ClassStatements as ClassStatements
from cyclearn.classes.class_statements import class_statements as class_statements
from cyclearn.classes.equivalence import Equivalence as Equivalence
from cyclearn.classes.equivalence import equivalent as equivalent
from cyclearn.classes.equivalence_class import EquivalenceClass as EquivalenceClass
from cyclearn.classes.equivalence_class import equivalence_class as equivalence_class
from cyclearn.classes.interventional_class import InterventionalClass as InterventionalClass
from cyclearn.classes.interventional_class import finest_design as finest_design
from cyclearn.classes.rotation_class import RotationClass as RotationClass
from cyclearn.classes.rule_search import Completeness as Completeness
from cyclearn.classes.steps import CycleReversion as CycleReversion
from cyclearn.classes.steps import ParentAddition as ParentAddition
from cyclearn.classes.steps import ParentExchange as ParentExchange
from cyclearn.classes.steps import ParentReduction as ParentReduction
from cyclearn.classes.steps import replay as replay
